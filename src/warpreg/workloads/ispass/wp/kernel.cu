// Cloud microphysics of a weather model with five classes of water beside vapour's: cloud water, rain, cloud ice and
// snow. A thread owns a column of the atmosphere. In each substep it first computes the fall speeds of rain and snow on
// all levels, lets both fall in as many steps as the fastest needs, then walks over the levels once more: growth,
// evaporation, freezing and melting, limited by what is there, and condensation. Columns lie side by side in memory.

#define MAX_LEVELS 64
#define FREEZING 273.15f
#define QMIN 1.0e-9f
#define VAPOUR_GAS 461.5f
#define HEAT 1004.5f
#define RAIN_COUNT 8.0e6f
#define SNOW_COUNT 2.0e6f
#define STEEPEST 8.0e4f
#define FUSION 3.5e5f
#define SUBLIMATION 2.85e6f
#define PI 3.14159265f

__device__ __forceinline__ float saturation(float temperature, float pressure, float a, float b)
{
    const float vapour = 610.78f * expf(a * (temperature - FREEZING) / (temperature - b));
    return 0.622f * vapour / (pressure - vapour);
}

__device__ __forceinline__ float rain_slope(float rain, float density)
{
    return rain <= QMIN ? STEEPEST : fminf(sqrtf(sqrtf(PI * 1000.0f * RAIN_COUNT / (rain * density))), STEEPEST);
}

__device__ __forceinline__ float snow_count(float cold)
{
    return SNOW_COUNT * expf(0.12f * fminf(fmaxf(cold, 0.0f), 90.0f));
}

__device__ __forceinline__ float snow_slope(float snow, float density, float count)
{
    return snow <= QMIN ? STEEPEST : fminf(sqrtf(sqrtf(PI * 100.0f * count / (snow * density))), STEEPEST);
}

// Lets one class of water fall, and returns what reaches the ground, in kg / m^2.
__device__ float fall(float* water, const float* speed, const float* density, const float* thickness, float dt,
                      int levels, int columns, int column)
{
    float fastest = 1.0f;
    for (int k = 0; k < levels; k++)
        fastest = fmaxf(fastest, speed[k] * dt / thickness[k * columns + column]);
    const int steps = (int)ceilf(fastest);
    const float step = dt / steps;
    float ground = 0.0f;
    for (int n = 0; n < steps; n++) {
        float from_above = 0.0f;
        for (int k = levels - 1; k >= 0; k--) {
            const int cell = k * columns + column;
            const float here = water[cell];
            const float flux = density[cell] * here * speed[k];
            const float leaves = fminf(flux * step / thickness[cell], here * density[cell]);
            const float arrives = from_above / thickness[cell];
            water[cell] = fmaxf(here + (arrives - leaves) / density[cell], 0.0f);
            from_above = leaves * thickness[cell];
        }
        ground += from_above;
    }
    return ground;
}

extern "C" __global__ void __launch_bounds__(64)
microphysics(float* temperatures, float* vapours, float* clouds, float* ices, float* rains, float* snows,
             const float* pressure, const float* density, const float* thickness, float* ground, int columns,
             int levels, float dt, int substeps)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;

    float rain_speed[MAX_LEVELS], snow_speed[MAX_LEVELS];
    float reached = 0.0f;

    for (int substep = 0; substep < substeps; substep++) {
        for (int k = 0; k < levels; k++) {
            const int cell = k * columns + column;
            const float rho = density[cell];
            const float thin = sqrtf(1.28f / rho);
            const float rain = fmaxf(rains[cell], 0.0f);
            const float snow = fmaxf(snows[cell], 0.0f);
            const float count = snow_count(FREEZING - temperatures[cell]);
            rain_speed[k] = rain <= QMIN ? 0.0f : 2503.0f * powf(rain_slope(rain, rho), -0.8f) * thin;
            snow_speed[k] = snow <= QMIN ? 0.0f : 20.1f * powf(snow_slope(snow, rho, count), -0.41f) * thin;
        }
        reached += fall(rains, rain_speed, density, thickness, dt, levels, columns, column);
        reached += fall(snows, snow_speed, density, thickness, dt, levels, columns, column);

        for (int k = 0; k < levels; k++) {
            const int cell = k * columns + column;
            const float p = pressure[cell];
            const float rho = density[cell];
            float temperature = temperatures[cell];
            float vapour = fmaxf(vapours[cell], 0.0f);
            float cloud = fmaxf(clouds[cell], 0.0f);
            float ice = fmaxf(ices[cell], 0.0f);
            float rain = fmaxf(rains[cell], 0.0f);
            float snow = fmaxf(snows[cell], 0.0f);

            const float cold = FREEZING - temperature;
            const float heat = HEAT * (1.0f + 0.8f * vapour);
            const float condensation = 2.5e6f + 2370.0f * cold;
            const float over_water = saturation(temperature, p, 17.2694f, 35.86f);
            const float thin = sqrtf(1.28f / rho);
            const float viscosity = 1.496e-6f * powf(temperature, 1.5f) / (temperature + 120.0f) / rho;
            const float diffusion = 8.794e-5f * powf(temperature, 1.81f) / p;
            const float conduction = 1.414e3f * viscosity * rho;
            const float schmidt = powf(viscosity / diffusion, 1.0f / 3.0f) * rsqrtf(viscosity) * sqrtf(thin);

            const float count = snow_count(cold);
            const float rain_steep = rain_slope(rain, rho);
            const float snow_steep = snow_slope(snow, rho, count);
            const float rain_size = 1.0f / rain_steep;
            const float snow_size = 1.0f / snow_steep;

            // Rain: from cloud water by itself, by collection, and evaporation into dry air.
            const float drizzle = fminf(1.0e-3f * fmaxf(cloud - 5.0e-4f, 0.0f), cloud / dt);
            const float rain_collects = rain <= QMIN ? 0.0f : fminf(
                0.25f * PI * 842.0f * RAIN_COUNT * 4.6942f * cloud * powf(rain_size, 3.8f) * thin, cloud / dt);
            const float water_work = condensation * condensation / (conduction * VAPOUR_GAS * temperature * temperature)
                                     + 1.0f / (rho * over_water * diffusion);
            const float dryness = fminf(vapour / over_water - 1.0f, 0.0f);
            const float rain_area = RAIN_COUNT * (4.9f * rain_size * rain_size
                                                  + 102.0f * schmidt * powf(rain_size, 2.9f));
            const float evaporates = rain <= QMIN ? 0.0f : fmaxf(dryness * rain_area / water_work / rho, -rain / dt);

            float nucleates = 0.0f, ice_grows = 0.0f, snow_grows = 0.0f, aggregates = 0.0f, snow_collects = 0.0f;
            float snow_takes_ice = 0.0f, melts = 0.0f;
            if (cold > 0.0f) {
                const float over_ice = saturation(temperature, p, 21.8746f, 7.66f);
                const float excess = (vapour - over_ice) / dt;
                const float supersaturation = vapour / over_ice - 1.0f;
                const float ice_work =
                    SUBLIMATION * SUBLIMATION / (conduction * VAPOUR_GAS * temperature * temperature)
                    + 1.0f / (rho * over_ice * diffusion);
                const float crystals = fminf(fmaxf(5.38e7f * powf(rho * fmaxf(ice, QMIN), 0.75f), 1.0e3f), 1.0e6f);
                const float mass = rho * ice / crystals;
                const float diameter = fminf(11.9f * sqrtf(mass), 5.0e-4f);
                const float ice_speed = 3.29f * powf(rho * fmaxf(ice, QMIN), 0.16f);
                const float snow_falls = 20.1f * powf(snow_size, 0.41f) * thin;

                const float nuclei = 1.0e3f * expf(0.1f * fminf(cold, 60.0f));
                const float first_ice = 4.92e-11f * powf(nuclei, 1.33f) / rho;
                nucleates = fminf(fmaxf((first_ice - ice) / dt, 0.0f), fmaxf(excess, 0.0f));

                ice_grows = 4.0f * diameter * crystals * supersaturation / ice_work / rho;
                ice_grows = ice_grows < 0.0f ? fmaxf(fmaxf(ice_grows, 0.5f * excess), -ice / dt)
                                             : fminf(ice_grows, 0.5f * fmaxf(excess - nucleates, 0.0f));
                if (snow > QMIN) {
                    const float snow_area = count * (2.6f * snow_size * snow_size
                                                     + 4.7f * schmidt * powf(snow_size, 2.705f));
                    snow_grows = supersaturation * snow_area / ice_work / rho;
                    snow_grows = snow_grows < 0.0f ? fmaxf(fmaxf(snow_grows, 0.5f * excess), -snow / dt)
                                                   : fminf(snow_grows, 0.5f * fmaxf(excess - nucleates, 0.0f));
                    const float swept = 2.0f * snow_size * snow_size * snow_size
                                        + 2.0f * diameter * snow_size * snow_size
                                        + diameter * diameter * snow_size;
                    snow_takes_ice = fminf(0.25f * PI * ice * expf(-0.07f * cold) * count
                                           * fabsf(snow_falls - ice_speed) * swept, ice / dt);
                    snow_collects = fminf(0.25f * PI * 11.72f * count * 2.5488f * cloud * powf(snow_size, 3.41f) * thin,
                                          cloud / dt);
                }
                aggregates = fmaxf((ice - 8.0e-5f / rho) * 1.0e-3f * expf(-0.025f * cold), 0.0f);
            } else if (snow > QMIN) {
                const float snow_area = count * (2.6f * snow_size * snow_size
                                                 + 4.7f * schmidt * powf(snow_size, 2.705f));
                melts = fminf(-conduction / FUSION * cold * 0.5f * PI * snow_area / rho, snow / dt);
            }

            // No class gives more than it has.
            const float from_cloud = (drizzle + rain_collects + snow_collects) * dt;
            const float cloud_share = from_cloud > cloud ? cloud / from_cloud : 1.0f;
            const float from_ice = (aggregates + snow_takes_ice) * dt;
            const float ice_left = fmaxf(ice + (nucleates + ice_grows) * dt, 0.0f);
            const float ice_share = from_ice > ice_left ? ice_left / from_ice : 1.0f;

            const float to_rain = cloud_share * (drizzle + rain_collects);
            const float riming = cloud_share * snow_collects;
            const float to_snow = ice_share * (aggregates + snow_takes_ice);
            const float deposited = nucleates + ice_grows + snow_grows;
            vapour = fmaxf(vapour - (evaporates + deposited) * dt, 0.0f);
            cloud = fmaxf(cloud - (to_rain + riming) * dt, 0.0f);
            rain = fmaxf(rain + (to_rain + evaporates + melts) * dt, 0.0f);
            ice = fmaxf(ice + (nucleates + ice_grows - to_snow) * dt, 0.0f);
            snow = fmaxf(snow + (snow_grows + to_snow + riming - melts) * dt, 0.0f);
            temperature += (condensation * evaporates + SUBLIMATION * deposited + FUSION * (riming - melts)) / heat * dt;

            // Ice melts and supercooled cloud water freezes at once.
            if (temperature > FREEZING) {
                temperature -= FUSION / heat * ice;
                cloud += ice;
                ice = 0.0f;
            } else if (temperature < FREEZING - 40.0f) {
                temperature += FUSION / heat * cloud;
                ice += cloud;
                cloud = 0.0f;
            }

            const float saturated = saturation(temperature, p, 17.2694f, 35.86f);
            const float response = 1.0f + condensation * condensation * saturated
                                              / (VAPOUR_GAS * heat * temperature * temperature);
            const float condensed = fmaxf((vapour - saturated) / response, -cloud);

            temperatures[cell] = temperature + condensation / heat * condensed;
            vapours[cell] = vapour - condensed;
            clouds[cell] = cloud + condensed;
            ices[cell] = ice;
            rains[cell] = rain;
            snows[cell] = snow;
        }
    }
    ground[column] += reached;
}
