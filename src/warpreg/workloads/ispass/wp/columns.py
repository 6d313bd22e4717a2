"""The physics of `wp` on whole arrays: what falls, and what the classes of water turn into."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpreg.workloads.workload import Array

CLASSES = ("temperature", "vapour", "cloud", "ice", "rain", "snow")
FREEZING = 273.15
QMIN = float(np.float32(1.0e-9))
VAPOUR_GAS, HEAT = 461.5, 1004.5
RAIN_COUNT, SNOW_COUNT, STEEPEST = 8.0e6, 2.0e6, 8.0e4
FUSION, SUBLIMATION = 3.5e5, 2.85e6
WATER, ICE = (17.2694, 35.86), (21.8746, 7.66)


def saturation(temperature: Array, pressure: Array, phase: tuple[float, float]) -> Array:
    """Saturated vapour over water or ice, kg per kg of air (Tetens)."""
    a, b = phase
    vapour = 610.78 * np.exp(a * (temperature - FREEZING) / (temperature - b))
    mixed: Array = 0.622 * vapour / (pressure - vapour)
    return mixed


def slope(amount: Array, density: Array, water: float, count: Array | float) -> Array:
    """Of the exponential distribution of drops or flakes over diameters, 1 / m."""
    steep = (np.pi * water * count / (np.maximum(amount, QMIN) * density)) ** 0.25
    return np.where(amount <= QMIN, STEEPEST, np.minimum(steep, STEEPEST))


def snow_count(cold: Array) -> Array:
    """Flakes at diameter zero, 1 / m^4; more where it is colder."""
    count: Array = SNOW_COUNT * np.exp(0.12 * np.clip(cold, 0, 90))
    return count


class Columns:
    """Columns of the atmosphere; ``state`` has a float64[levels, columns] array for each field."""

    def __init__(self, state: Mapping[str, Array]) -> None:
        self.state = dict(state)
        self.ground = np.zeros(state["temperature"].shape[1])

    def advance(self, dt: float) -> None:
        """One substep of ``dt`` seconds."""
        self._fall(dt)
        self._change(dt)

    def _fall(self, dt: float) -> None:
        state = self.state
        density = state["density"]
        thin = np.sqrt(1.28 / density)
        count = snow_count(FREEZING - state["temperature"])
        rain_speed = 2503.0 * slope(state["rain"], density, 1000.0, RAIN_COUNT) ** -0.8 * thin
        snow_speed = 20.1 * slope(state["snow"], density, 100.0, count) ** -0.41 * thin
        for name, speed in (("rain", rain_speed), ("snow", snow_speed)):
            self._fall_of(name, np.where(state[name] <= QMIN, 0, speed), dt)

    def _fall_of(self, name: str, speed: Array, dt: float) -> None:
        density, thickness = self.state["density"], self.state["thickness"]
        water = self.state[name].copy()
        steps = np.ceil(np.maximum(speed * dt / thickness, 1).max(axis=0))
        for done in range(int(steps.max())):
            step = np.where(done < steps, dt / steps, 0)
            leaves = np.minimum(density * water * speed * step / thickness, water * density)
            arrives = np.zeros_like(leaves)
            arrives[:-1] = (leaves * thickness)[1:] / thickness[:-1]
            water = np.maximum(water + (arrives - leaves) / density, 0)
            self.ground += leaves[0] * thickness[0]
        self.state[name] = water

    def _change(self, dt: float) -> None:
        """Growth, evaporation, freezing and melting, then condensation."""
        temperature, vapour, cloud, ice, rain, snow = (self.state[name] for name in CLASSES)
        p, rho = self.state["pressure"], self.state["density"]
        cold = FREEZING - temperature
        heat = HEAT * (1 + 0.8 * vapour)
        condensation = 2.5e6 + 2370 * cold
        air = _Air(temperature, p, rho)

        rain_size = 1 / slope(rain, rho, 1000.0, RAIN_COUNT)
        drizzle = np.minimum(1e-3 * np.maximum(cloud - 5e-4, 0), cloud / dt)
        collects = 0.25 * np.pi * 842 * RAIN_COUNT * 4.6942 * cloud * rain_size**3.8 * air.thin
        collects = np.where(rain <= QMIN, 0, np.minimum(collects, cloud / dt))
        over_water = saturation(temperature, p, WATER)
        dryness = np.minimum(vapour / over_water - 1, 0)
        area = RAIN_COUNT * (4.9 * rain_size**2 + 102 * air.schmidt * rain_size**2.9)
        evaporates = np.maximum(dryness * area / air.work(condensation, over_water) / rho, -rain / dt)
        evaporates = np.where(rain <= QMIN, 0, evaporates)
        cells = _Cold(self.state, air, cold, dt)

        from_cloud = (drizzle + collects + cells.rimes) * dt
        cloud_share = np.where(from_cloud > cloud, cloud / np.maximum(from_cloud, 1e-30), 1)
        from_ice = (cells.aggregates + cells.takes_ice) * dt
        ice_left = np.maximum(ice + (cells.nucleates + cells.ice_grows) * dt, 0)
        ice_share = np.where(from_ice > ice_left, ice_left / np.maximum(from_ice, 1e-30), 1)
        to_rain, riming = cloud_share * (drizzle + collects), cloud_share * cells.rimes
        to_snow = ice_share * (cells.aggregates + cells.takes_ice)
        deposited = cells.nucleates + cells.ice_grows + cells.snow_grows
        vapour = np.maximum(vapour - (evaporates + deposited) * dt, 0)
        cloud = np.maximum(cloud - (to_rain + riming) * dt, 0)
        rain = np.maximum(rain + (to_rain + evaporates + cells.melts) * dt, 0)
        ice = np.maximum(ice + (cells.nucleates + cells.ice_grows - to_snow) * dt, 0)
        snow = np.maximum(snow + (cells.snow_grows + to_snow + riming - cells.melts) * dt, 0)
        gained = condensation * evaporates + SUBLIMATION * deposited + FUSION * (riming - cells.melts)
        temperature = temperature + gained / heat * dt

        melted = np.where(temperature > FREEZING, ice, 0)
        frozen = np.where(temperature < FREEZING - 40, cloud, 0)
        temperature = temperature + FUSION / heat * (frozen - melted)
        cloud, ice = cloud + melted - frozen, ice + frozen - melted

        saturated = saturation(temperature, p, WATER)
        response = 1 + condensation**2 * saturated / (VAPOUR_GAS * heat * temperature**2)
        condensed = np.maximum((vapour - saturated) / response, -cloud)
        temperature = temperature + condensation / heat * condensed
        after = (temperature, vapour - condensed, cloud + condensed, ice, rain, snow)
        self.state |= dict(zip(CLASSES, after, strict=True))


class _Air:
    """What growth in air depends on: diffusion, conduction and ventilation."""

    def __init__(self, temperature: Array, pressure: Array, density: Array) -> None:
        self.temperature, self.density = temperature, density
        self.thin = np.sqrt(1.28 / density)
        viscosity = 1.496e-6 * temperature**1.5 / (temperature + 120) / density
        self.diffusion = 8.794e-5 * temperature**1.81 / pressure
        self.conduction = 1.414e3 * viscosity * density
        self.schmidt = (viscosity / self.diffusion) ** (1 / 3) / np.sqrt(viscosity) * np.sqrt(self.thin)

    def work(self, latent: Array | float, saturated: Array) -> Array:
        """Resistance to growth, by conduction of the latent heat and by diffusion of vapour."""
        by_heat = latent**2 / (self.conduction * VAPOUR_GAS * self.temperature**2)
        resistance: Array = by_heat + 1 / (self.density * saturated * self.diffusion)
        return resistance


class _Cold:
    """Rates of ice and snow, kg per kg and second; zero where it is too warm, and ``melts`` where it is too cold."""

    def __init__(self, state: Mapping[str, Array], air: _Air, cold: Array, dt: float) -> None:
        vapour, cloud, ice, snow = (state[name] for name in ("vapour", "cloud", "ice", "snow"))
        rho = air.density
        freezing, snowy = cold > 0, snow > QMIN
        over_ice = saturation(air.temperature, state["pressure"], ICE)
        excess, supersaturation = (vapour - over_ice) / dt, vapour / over_ice - 1
        work = air.work(SUBLIMATION, over_ice)
        crystals = np.clip(5.38e7 * (rho * np.maximum(ice, QMIN)) ** 0.75, 1e3, 1e6)
        diameter = np.minimum(11.9 * np.sqrt(rho * ice / crystals), 5e-4)
        ice_speed = 3.29 * (rho * np.maximum(ice, QMIN)) ** 0.16
        count = snow_count(cold)
        size = 1 / slope(snow, rho, 100.0, count)

        nuclei = 1e3 * np.exp(0.1 * np.minimum(cold, 60))
        first_ice = 4.92e-11 * nuclei**1.33 / rho
        nucleates = np.minimum(np.maximum((first_ice - ice) / dt, 0), np.maximum(excess, 0))
        most = 0.5 * np.maximum(excess - nucleates, 0)

        def limited(rate: Array, amount: Array) -> Array:
            losing = np.maximum(np.maximum(rate, 0.5 * excess), -amount / dt)
            return np.where(rate < 0, losing, np.minimum(rate, most))

        area = count * (2.6 * size**2 + 4.7 * air.schmidt * size**2.705)
        swept = 2 * size**3 + 2 * diameter * size**2 + diameter**2 * size
        apart = np.abs(20.1 * size**0.41 * air.thin - ice_speed)
        takes_ice = np.minimum(0.25 * np.pi * ice * np.exp(-0.07 * cold) * count * apart * swept, ice / dt)
        rimes = np.minimum(0.25 * np.pi * 11.72 * count * 2.5488 * cloud * size**3.41 * air.thin, cloud / dt)
        melts = np.minimum(-air.conduction / FUSION * cold * 0.5 * np.pi * area / rho, snow / dt)

        self.nucleates = np.where(freezing, nucleates, 0)
        self.ice_grows = np.where(freezing, limited(4 * diameter * crystals * supersaturation / work / rho, ice), 0)
        self.snow_grows = np.where(freezing & snowy, limited(supersaturation * area / work / rho, snow), 0)
        self.takes_ice = np.where(freezing & snowy, takes_ice, 0)
        self.rimes = np.where(freezing & snowy, rimes, 0)
        self.aggregates = np.where(freezing, np.maximum((ice - 8e-5 / rho) * 1e-3 * np.exp(-0.025 * cold), 0), 0)
        self.melts = np.where(~freezing & snowy, melts, 0)
