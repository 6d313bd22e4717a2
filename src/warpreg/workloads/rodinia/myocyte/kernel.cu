// Heart muscle cells between two beats: 91 ordinary differential equations for each, one thread a cell.
// The first 46 are the membrane's currents, calcium and its buffers (Shannon et al., "A mathematical treatment of
// integrated Ca dynamics within the ventricular myocyte", 2004), the others calmodulin and its partners in three
// compartments (Saucerman and Bers, "Calmodulin mediates differential sensitivity of CaMKII and calcineurin to local
// Ca2+ in cardiac myocytes", 2008). They are solved by Fehlberg's embedded Runge-Kutta method of orders 7 and 8 with
// attempts at smaller and smaller steps. States are single precision; constants, and what they touch, are double.

#define EQUATIONS 91
#define PARAMETERS 16
#define COMPARTMENTS 3
#define STATES 15
#define TOTALS 5
#define STAGES 13
#define ATTEMPTS 12
#define SMALLEST_SCALE 0.125f
#define LARGEST_SCALE 4.0f

enum State {
    M, H, J, D, F, FCA_J, FCA_SL, XTOS, YTOS, XTOF, YTOF, XKR, XKS, RYR_R, RYR_O, RYR_I, NAB_J, NAB_SL, TNCL, TNCHC,
    TNCHM, CAM, MYOC, MYOM, SRB, SLL_J, SLL_SL, SLH_J, SLH_SL, CSQN, CA_SR, NA_J, NA_SL, NA_I, K_I, CA_J, CA_SL, CA_I,
    V, RTOS, SPARE_1, SPARE_2, CA_L, CA_PUMP, CA_EXCHANGED, CA_LEAKED, DYAD, SARCOLEMMA = DYAD + STATES,
    CYTOSOL = SARCOLEMMA + STATES
};

#define FARADAY 96485.0
#define PER_VOLT (FARADAY / 8314.0 / 310.0)
#define CAPACITY 1.3810e-10
#define WARMTH 0.0
#define CELL (3.1416 * 10.25 * 10.25 * 100.0 * 1e-15)
#define MYOPLASM (0.65 * CELL)
#define RETICULUM (0.035 * CELL)
#define SARCOLEMMAL (0.02 * CELL)
#define JUNCTION (0.0539 * 0.01 * CELL)
#define CA_JUNCTION_SL (1.0 / 1.2134e12)
#define CA_SL_MYOPLASM (1.0 / 2.68510e11)
#define NA_JUNCTION_SL (1.0 / (1.6382e12 / 3.0 * 100.0))
#define NA_SL_MYOPLASM (1.0 / (1.8308e10 / 3.0 * 100.0))
#define IN_JUNCTION 0.11
#define IN_SL 0.89
#define CAL_JUNCTION 0.9
#define CAL_SL 0.1
#define CL_IN 15.0
#define CL_OUT 150.0
#define K_OUT 5.4
#define NA_OUT 140.0
#define CA_OUT 1.8
#define MG_IN 1.0

__device__ __forceinline__ double square(double x) { return x * x; }
__device__ __forceinline__ double cube(double x) { return x * x * x; }

__device__ __forceinline__ void currents_and_calcium(float time, const float* y, float* rate, const float* parameters)
{
    const float v = y[V];
    const float ena_j = (1 / PER_VOLT) * log(NA_OUT / y[NA_J]);
    const float ena_sl = (1 / PER_VOLT) * log(NA_OUT / y[NA_SL]);
    const float ek = (1 / PER_VOLT) * log(K_OUT / y[K_I]);
    const float eca_j = (1 / PER_VOLT / 2) * log(CA_OUT / y[CA_J]);
    const float eca_sl = (1 / PER_VOLT / 2) * log(CA_OUT / y[CA_SL]);
    const float ecl = (1 / PER_VOLT) * log(CL_IN / CL_OUT);

    // fast sodium current
    const float am = 0.32 * (v + 47.13) / (1 - exp(-0.1 * (v + 47.13)));
    const float bm = 0.08 * exp(-v / 11.0);
    float ah, bh, aj, bj;
    if (v >= -40.0f) {
        ah = 0.0f;
        aj = 0.0f;
        bh = 1 / (0.13 * (1 + exp(-(v + 10.66) / 11.1)));
        bj = 0.3 * exp(-2.535e-7 * v) / (1 + exp(-0.1 * (v + 32)));
    } else {
        ah = 0.135 * exp((80 + v) / -6.8);
        bh = 3.56 * exp(0.079 * v) + 3.1e5 * exp(0.35 * v);
        aj = (-127140 * exp(0.2444 * v) - 3.474e-5 * exp(-0.04391 * v)) * (v + 37.78) / (1 + exp(0.311 * (v + 79.23)));
        bj = 0.1212 * exp(-0.01052 * v) / (1 + exp(-0.1378 * (v + 40.14)));
    }
    rate[M] = am * (1 - y[M]) - bm * y[M];
    rate[H] = ah * (1 - y[H]) - bh * y[H];
    rate[J] = aj * (1 - y[J]) - bj * y[J];
    const float ina_j = IN_JUNCTION * 16.0 * cube(y[M]) * y[H] * y[J] * (v - ena_j);
    const float ina_sl = IN_SL * 16.0 * cube(y[M]) * y[H] * y[J] * (v - ena_sl);
    const float inab_j = IN_JUNCTION * 0.297e-3 * (v - ena_j);
    const float inab_sl = IN_SL * 0.297e-3 * (v - ena_sl);

    // sodium-potassium pump
    const float sigma = (exp(NA_OUT / 67.3) - 1) / 7;
    const float fnak = 1 / (1 + 0.1245 * exp(-0.1 * v * PER_VOLT) + 0.0365 * sigma * exp(-v * PER_VOLT));
    const float inak_j = IN_JUNCTION * 1.90719 * fnak * K_OUT / (1 + pow(11.0 / y[NA_J], 4.0)) / (K_OUT + 1.5);
    const float inak_sl = IN_SL * 1.90719 * fnak * K_OUT / (1 + pow(11.0 / y[NA_SL], 4.0)) / (K_OUT + 1.5);
    const float inak = inak_j + inak_sl;

    // rapid and slow delayed rectifiers, plateau
    const float xrss = 1 / (1 + exp(-(v + 50) / 7.5));
    const float kr_slow = 0.00138 * (v + 7) / (1 - exp(-0.123 * (v + 7)));
    const float kr_fast = 6.1e-4 * (v + 10) / (exp(0.145 * (v + 10)) - 1);
    const float tau_xr = 1 / (kr_slow + kr_fast);
    rate[XKR] = (xrss - y[XKR]) / tau_xr;
    const float rkr = 1 / (1 + exp((v + 33) / 22.4));
    const float ikr = 0.03 * sqrt(K_OUT / 5.4) * y[XKR] * rkr * (v - ek);

    const float pca_j = -log10(y[CA_J]) + 3.0;
    const float pca_sl = -log10(y[CA_SL]) + 3.0;
    const float gks_j = 0.07 * (0.057 + 0.19 / (1 + exp((-7.2 + pca_j) / 0.6)));
    const float gks_sl = 0.07 * (0.057 + 0.19 / (1 + exp((-7.2 + pca_sl) / 0.6)));
    const float eks = (1 / PER_VOLT) * log((K_OUT + 0.01833 * NA_OUT) / (y[K_I] + 0.01833 * y[NA_I]));
    const float xsss = 1 / (1 + exp(-(v - 1.5) / 16.7));
    const float ks_slow = 7.19e-5 * (v + 30) / (1 - exp(-0.148 * (v + 30)));
    const float ks_fast = 1.31e-4 * (v + 30) / (exp(0.0687 * (v + 30)) - 1);
    const float tau_xs = 1 / (ks_slow + ks_fast);
    rate[XKS] = (xsss - y[XKS]) / tau_xs;
    const float iks_j = IN_JUNCTION * gks_j * square(y[XKS]) * (v - eks);
    const float iks_sl = IN_SL * gks_sl * square(y[XKS]) * (v - eks);
    const float iks = iks_j + iks_sl;
    const float kp = 1 / (1 + exp(7.488 - v / 5.98));
    const float ikp = IN_JUNCTION * 0.001 * kp * (v - ek) + IN_SL * 0.001 * kp * (v - ek);

    // transient outward current, slow and fast
    const float xtoss = 1 / (1 + exp(-(v + 3.0) / 15));
    const float ytoss = 1 / (1 + exp((v + 33.5) / 10));
    const float rtoss = 1 / (1 + exp((v + 33.5) / 10));
    const float tau_xtos = 9 / (1 + exp((v + 3.0) / 15)) + 0.5;
    const float tau_ytos = 3e3 / (1 + exp((v + 60.0) / 10)) + 30;
    const float tau_rtos = 2800 / (1 + exp((v + 60.0) / 10)) + 220;
    rate[XTOS] = (xtoss - y[XTOS]) / tau_xtos;
    rate[YTOS] = (ytoss - y[YTOS]) / tau_ytos;
    rate[RTOS] = (rtoss - y[RTOS]) / tau_rtos;
    const float itos = 0.06 * y[XTOS] * (y[YTOS] + 0.5 * y[RTOS]) * (v - ek);
    const float tau_xtof = 3.5 * exp(-v * v / 30.0 / 30.0) + 1.5;
    const float tau_ytof = 20.0 / (1 + exp((v + 33.5) / 10)) + 20.0;
    rate[XTOF] = (xtoss - y[XTOF]) / tau_xtof;
    rate[YTOF] = (ytoss - y[YTOF]) / tau_ytof;
    const float itof = 0.02 * y[XTOF] * y[YTOF] * (v - ek);
    const float ito = itos + itof;

    // inward rectifier, chloride
    const float aki = 1.02 / (1 + exp(0.2385 * (v - ek - 59.215)));
    const float bki_rise = 0.49124 * exp(0.08032 * (v + 5.476 - ek)) + exp(0.06175 * (v - ek - 594.31));
    const float bki = bki_rise / (1 + exp(-0.5143 * (v - ek + 4.753)));
    const float iki = 0.9 * sqrt(K_OUT / 5.4) * (aki / (aki + bki)) * (v - ek);
    const float iclca_j = IN_JUNCTION * 0.109625 / (1 + 0.1 / y[CA_J]) * (v - ecl);
    const float iclca_sl = IN_SL * 0.109625 / (1 + 0.1 / y[CA_SL]) * (v - ecl);
    const float iclb = 9e-3 * (v - ecl);

    // L-type calcium current
    const float dss = 1 / (1 + exp(-(v + 14.5) / 6.0));
    const float tau_d = dss * (1 - exp(-(v + 14.5) / 6.0)) / (0.035 * (v + 14.5));
    const float fss = 1 / (1 + exp((v + 35.06) / 3.6)) + 0.6 / (1 + exp((50 - v) / 20.0));
    const float tau_f = 1 / (0.0197 * exp(-square(0.0337 * (v + 14.5))) + 0.02);
    rate[D] = (dss - y[D]) / tau_d;
    rate[F] = (fss - y[F]) / tau_f;
    rate[FCA_J] = 1.7 * y[CA_J] * (1 - y[FCA_J]) - 11.9e-3 * y[FCA_J];
    rate[FCA_SL] = 1.7 * y[CA_SL] * (1 - y[FCA_SL]) - 11.9e-3 * y[FCA_SL];
    const float force = v * FARADAY * PER_VOLT;
    const double once = exp(v * PER_VOLT);
    const double twice = exp(2 * v * PER_VOLT);
    const float ical_j = 5.4e-4 * 4 * force * (0.341 * y[CA_J] * twice - 0.341 * CA_OUT) / (twice - 1);
    const float ical_sl = 5.4e-4 * 4 * force * (0.341 * y[CA_SL] * twice - 0.341 * CA_OUT) / (twice - 1);
    const float icak_all = 2.7e-7 * force * (0.75 * y[K_I] * once - 0.75 * K_OUT) / (once - 1);
    const float icana_all_j = 1.5e-8 * force * (0.75 * y[NA_J] * once - 0.75 * NA_OUT) / (once - 1);
    const float icana_all_sl = 1.5e-8 * force * (0.75 * y[NA_SL] * once - 0.75 * NA_OUT) / (once - 1);
    const float open = y[D] * y[F] * 0.45 * pow(1.8, WARMTH);
    const float ica_j = CAL_JUNCTION * ical_j * open * (1 - y[FCA_J]);
    const float ica_sl = CAL_SL * ical_sl * open * (1 - y[FCA_SL]);
    const float ica = ica_j + ica_sl;
    rate[CA_L] = -ica * CAPACITY / (MYOPLASM * 2 * FARADAY) * 1e3;
    const float icak = icak_all * open * (CAL_JUNCTION * (1 - y[FCA_J]) + CAL_SL * (1 - y[FCA_SL]));
    const float icana_j = CAL_JUNCTION * icana_all_j * open * (1 - y[FCA_J]);
    const float icana_sl = CAL_SL * icana_all_sl * open * (1 - y[FCA_SL]);

    // sodium-calcium exchanger
    const float ka_j = 1 / (1 + pow(0.256e-3 / y[CA_J], 3.0));
    const float ka_sl = 1 / (1 + pow(0.256e-3 / y[CA_SL], 3.0));
    const float inward = exp(0.35 * v * PER_VOLT);
    const float outward = exp((0.35 - 1) * v * PER_VOLT);
    const float s1_j = inward * cube(y[NA_J]) * CA_OUT;
    const float s1_sl = inward * cube(y[NA_SL]) * CA_OUT;
    const float s2_j = outward * cube(NA_OUT) * y[CA_J];
    const float s2_sl = outward * cube(NA_OUT) * y[CA_SL];
    const float s3_j = (3.59e-3 * cube(NA_OUT) * (1 + pow(y[NA_J] / 12.29, 3.0)) + cube(87.5) * y[CA_J] +
                        cube(12.29) * CA_OUT * (1 + y[CA_J] / 3.59e-3) + 1.3 * cube(y[NA_J]) + cube(y[NA_J]) * CA_OUT +
                        cube(NA_OUT) * y[CA_J]) * (1 + 0.27 * outward);
    const float s3_sl = (3.59e-3 * cube(NA_OUT) * (1 + pow(y[NA_SL] / 12.29, 3.0)) + cube(87.5) * y[CA_SL] +
                         cube(12.29) * CA_OUT * (1 + y[CA_SL] / 3.59e-3) + 1.3 * cube(y[NA_SL]) +
                         cube(y[NA_SL]) * CA_OUT + cube(NA_OUT) * y[CA_SL]) * (1 + 0.27 * outward);
    const float incx_j = IN_JUNCTION * 9.0 * pow(1.57, WARMTH) * ka_j * (s1_j - s2_j) / s3_j;
    const float incx_sl = IN_SL * 9.0 * pow(1.57, WARMTH) * ka_sl * (s1_sl - s2_sl) / s3_sl;
    const float incx = incx_j + incx_sl;
    rate[CA_EXCHANGED] = 2 * incx * CAPACITY / (MYOPLASM * 2 * FARADAY) * 1e3;

    // calcium pump and leak of the membrane
    const double power_j = pow((double)y[CA_J], 1.6);
    const double power_sl = pow((double)y[CA_SL], 1.6);
    const float ipca_j = IN_JUNCTION * pow(2.35, WARMTH) * 0.0673 * power_j / (pow(0.5e-3, 1.6) + power_j);
    const float ipca_sl = IN_SL * pow(2.35, WARMTH) * 0.0673 * power_sl / (pow(0.5e-3, 1.6) + power_sl);
    rate[CA_PUMP] = -(ipca_j + ipca_sl) * CAPACITY / (MYOPLASM * 2 * FARADAY) * 1e3;
    const float icab_j = IN_JUNCTION * 2.513e-4 * (v - eca_j);
    const float icab_sl = IN_SL * 2.513e-4 * (v - eca_sl);
    rate[CA_LEAKED] = -(icab_j + icab_sl) * CAPACITY / (MYOPLASM * 2 * FARADAY) * 1e3;

    // release, uptake and leak of the reticulum
    const float load = 15.0 - (15.0 - 1.0) / (1 + pow(0.45 / y[CA_SR], 2.5));
    const float opening = 10.0 / load;
    const float closing = 0.5 * load;
    const float ryr_ri = 1 - y[RYR_R] - y[RYR_O] - y[RYR_I];
    const float r_to_o = opening * square(y[CA_J]) * y[RYR_R] - 0.06 * y[RYR_O];
    const float o_to_i = closing * y[CA_J] * y[RYR_O] - 0.005 * y[RYR_I];
    rate[RYR_R] = (0.005 * ryr_ri - closing * y[CA_J] * y[RYR_R]) - r_to_o;
    rate[RYR_O] = r_to_o - o_to_i;
    rate[RYR_I] = o_to_i - (0.06 * y[RYR_I] - opening * square(y[CA_J]) * ryr_ri);
    const float release = 25.0 * y[RYR_O] * (y[CA_SR] - y[CA_J]);
    const float forward = pow(y[CA_I] / 0.246e-3, 1.787);
    const float backward = pow(y[CA_SR] / 1.7, 1.787);
    const float uptake = pow(2.6, WARMTH) * 2.86e-4 * (forward - backward) / (1 + forward + backward);
    const float leak = 5.348e-6 * (y[CA_SR] - y[CA_J]);

    // buffers
    rate[NAB_J] = 0.1e-3 * y[NA_J] * (7.561 - y[NAB_J]) - 1e-3 * y[NAB_J];
    rate[NAB_SL] = 0.1e-3 * y[NA_SL] * (1.65 - y[NAB_SL]) - 1e-3 * y[NAB_SL];
    rate[TNCL] = 32.7 * y[CA_I] * (70e-3 - y[TNCL]) - 19.6e-3 * y[TNCL];
    rate[TNCHC] = 2.37 * y[CA_I] * (140e-3 - y[TNCHC] - y[TNCHM]) - 0.032e-3 * y[TNCHC];
    rate[TNCHM] = 3e-3 * MG_IN * (140e-3 - y[TNCHC] - y[TNCHM]) - 3.33e-3 * y[TNCHM];
    rate[CAM] = 0.0f;
    rate[MYOC] = 13.8 * y[CA_I] * (140e-3 - y[MYOC] - y[MYOM]) - 0.46e-3 * y[MYOC];
    rate[MYOM] = 0.0157 * MG_IN * (140e-3 - y[MYOC] - y[MYOM]) - 0.057e-3 * y[MYOM];
    rate[SRB] = 100.0 * y[CA_I] * (19 * 0.9e-3 - y[SRB]) - 60e-3 * y[SRB];
    const float bound_cytosol =
        rate[TNCL] + rate[TNCHC] + rate[TNCHM] + rate[CAM] + rate[MYOC] + rate[MYOM] + rate[SRB];
    rate[SLL_J] = 100.0 * y[CA_J] * (4.62e-3 * MYOPLASM / JUNCTION * 0.1 - y[SLL_J]) - 1.3 * y[SLL_J];
    rate[SLL_SL] = 100.0 * y[CA_SL] * (37.38e-3 * MYOPLASM / SARCOLEMMAL - y[SLL_SL]) - 1.3 * y[SLL_SL];
    rate[SLH_J] = 100.0 * y[CA_J] * (1.65e-3 * MYOPLASM / JUNCTION * 0.1 - y[SLH_J]) - 30e-3 * y[SLH_J];
    rate[SLH_SL] = 100.0 * y[CA_SL] * (13.35e-3 * MYOPLASM / SARCOLEMMAL - y[SLH_SL]) - 30e-3 * y[SLH_SL];
    const float bound_j = rate[SLL_J] + rate[SLH_J];
    const float bound_sl = rate[SLL_SL] + rate[SLH_SL];

    // concentrations
    rate[CSQN] = 100.0 * y[CA_SR] * (2.7 - y[CSQN]) - 65.0 * y[CSQN];
    rate[CA_SR] = uptake * MYOPLASM / RETICULUM - (leak * MYOPLASM / RETICULUM + release) - rate[CSQN];
    const float ina_tot_j = ina_j + inab_j + 3 * incx_j + 3 * inak_j + icana_j;
    const float ina_tot_sl = ina_sl + inab_sl + 3 * incx_sl + 3 * inak_sl + icana_sl;
    rate[NA_J] = -ina_tot_j * CAPACITY / (JUNCTION * FARADAY) + NA_JUNCTION_SL / JUNCTION * (y[NA_SL] - y[NA_J]) -
                 rate[NAB_J];
    rate[NA_SL] = -ina_tot_sl * CAPACITY / (SARCOLEMMAL * FARADAY) +
                  NA_JUNCTION_SL / SARCOLEMMAL * (y[NA_J] - y[NA_SL]) +
                  NA_SL_MYOPLASM / SARCOLEMMAL * (y[NA_I] - y[NA_SL]) - rate[NAB_SL];
    rate[NA_I] = NA_SL_MYOPLASM / MYOPLASM * (y[NA_SL] - y[NA_I]);
    const float ik_tot = ito + ikr + iks + iki - 2 * inak + icak + ikp;
    rate[K_I] = 0.0f;
    const float ica_tot_j = ica_j + icab_j + ipca_j - 2 * incx_j;
    const float ica_tot_sl = ica_sl + icab_sl + ipca_sl - 2 * incx_sl;
    rate[CA_J] = -ica_tot_j * CAPACITY / (JUNCTION * 2 * FARADAY) + CA_JUNCTION_SL / JUNCTION * (y[CA_SL] - y[CA_J]) -
                 bound_j + release * RETICULUM / JUNCTION + leak * MYOPLASM / JUNCTION;
    rate[CA_SL] = -ica_tot_sl * CAPACITY / (SARCOLEMMAL * 2 * FARADAY) +
                  CA_JUNCTION_SL / SARCOLEMMAL * (y[CA_J] - y[CA_SL]) +
                  CA_SL_MYOPLASM / SARCOLEMMAL * (y[CA_I] - y[CA_SL]) - bound_sl;
    rate[CA_I] = -uptake - bound_cytosol + CA_SL_MYOPLASM / MYOPLASM * (y[CA_SL] - y[CA_I]);

    // membrane potential, paced by a current of 5 ms
    const float paced = fmod((double)time, (double)parameters[0]) <= 5 ? 9.5f : 0.0f;
    const float icl_tot = iclca_j + iclca_sl + iclb;
    rate[V] = -(ina_tot_j + ina_tot_sl + icl_tot + ica_tot_j + ica_tot_sl + ik_tot - paced);
    rate[SPARE_1] = 0.0f;
    rate[SPARE_2] = 0.0f;
}

// Calmodulin with calcium, its buffer, calcineurin and the kinase CaMKII in one compartment, whose 15 states begin at
// `y` and whose parameters at `parameters`; calcium in micromol. Returns the calcium that it takes up.
__device__ __forceinline__ float calmodulin(const float* y, float* rate, const float* parameters, float ca)
{
    const float buffer_tot = parameters[1];
    const float kinase_tot = parameters[2];
    const float calcineurin_tot = parameters[3];
    const float phosphatase_tot = parameters[4];
    const float cam = y[0], ca2cam = y[1], ca4cam = y[2], camb = y[3], ca2camb = y[4], ca4camb = y[5];
    const float pb2 = y[6], pb = y[7], pt = y[8], pt2 = y[9], pa = y[10];
    const float ca4can = y[11], cam_can = y[12], ca2cam_can = y[13], ca4cam_can = y[14];
    const float k = 135.0f;
    const float mg = 1.0f;

    float kd02, kd24;
    if (mg <= 1) {
        kd02 = 0.0025 * (1 + k / 0.94 - mg / 0.012) * (1 + k / 8.1 + mg / 0.022);
        kd24 = 0.128 * (1 + k / 0.64 + mg / 0.0014) * (1 + k / 13.0 - mg / 0.153);
    } else {
        kd02 = 0.0025 * (1 + k / 0.94 - 1 / 0.012 + (mg - 1) / 0.060) * (1 + k / 8.1 + 1 / 0.022 + (mg - 1) / 0.068);
        kd24 = 0.128 * (1 + k / 0.64 + 1 / 0.0014 + (mg - 1) / 0.005) * (1 + k / 13.0 - 1 / 0.153 + (mg - 1) / 0.150);
    }
    const float k20 = 10.0, k42 = 500.0;
    const float k02 = k20 / kd02, k24 = k42 / kd24;
    const float k0b_off = 0.0014, k0b_on = k0b_off / 0.2, k2b_off = k0b_off / 100;
    const float k20b = k20 / 100;
    const float kbi = 2.2, kib = kbi / 33.5e-3, kb2i = kib * 5, kb42 = k42 * 33.5e-3 / 5;
    const float kpp1 = 1.72, km_pp1 = 11.5;
    const float kta = kbi / 1000, kt42 = k42 * 33.5e-6 / 5, kt2a = kib * 5;
    const float kcan_on = 46.0, kcan4_off = 0.0013, kcan2_off = 2508 * kcan4_off, kcan0_off = 165 * kcan2_off;
    const float kcan_ca_off = 1.0, kcan_ca_on = kcan_ca_off / 0.5;
    const float k20can = k20 / 165, k42can = k20 / 2508;
    const double squared = square(ca);

    const float r02 = k02 * squared * cam - k20 * ca2cam;
    const float r24 = k24 * squared * ca2cam - k42 * ca4cam;
    const float b = buffer_tot - camb - ca2camb - ca4camb;
    const float r02b = k02 * squared * camb - k20b * ca2camb;
    const float r24b = k24 * squared * ca2camb - k42 * ca4camb;
    const float r0b = k0b_on * cam * b - k0b_off * camb;
    const float r2b = k0b_on * ca2cam * b - k2b_off * ca2camb;
    const float r4b = k0b_on * ca4cam * b - k2b_off * ca4camb;

    const float ca2can = calcineurin_tot - ca4can - cam_can - ca2cam_can - ca4cam_can;
    const float rca4can = kcan_ca_on * squared * ca2can - kcan_ca_off * ca4can;
    const float r02can = k02 * squared * cam_can - k20can * ca2cam_can;
    const float r24can = k24 * squared * ca2cam_can - k42can * ca4cam_can;
    const float r0can = kcan_on * cam * ca4can - kcan0_off * cam_can;
    const float r2can = kcan_on * ca2cam * ca4can - kcan2_off * ca2cam_can;
    const float r4can = kcan_on * ca4cam * ca4can - kcan4_off * ca4cam_can;

    const float pi = 1 - pb2 - pb - pt - pt2 - pa;
    const float rib2 = kib * ca2cam * pi - kb2i * pb2;
    const float rb2b = k24 * squared * pb2 - kb42 * pb;
    const float rib = kib * ca4cam * pi - kbi * pb;
    const float t = pb + pt + pt2 + pa;
    const float kbt = 0.055 * t + 0.0074 * square(t) + 0.015 * cube(t);
    const float rbt = kbt * pb - kpp1 * phosphatase_tot * pt / (km_pp1 + kinase_tot * pt);
    const float rtt2 = kt42 * pt - k24 * squared * pt2;
    const float rta = kta * pt - kib * ca4cam * pa;
    const float rt2a = kt2a * pt2 - kib * ca2cam * pa;
    const float rt2b2 = kpp1 * phosphatase_tot * pt2 / (km_pp1 + kinase_tot * pt2);
    const float rai = kpp1 * phosphatase_tot * pa / (km_pp1 + kinase_tot * pa);

    rate[0] = 1e-3 * (-r02 - r0b - r0can);
    rate[1] = 1e-3 * (r02 - r24 - r2b - r2can + kinase_tot * (-rib2 + rt2a));
    rate[2] = 1e-3 * (r24 - r4b - r4can + kinase_tot * (-rib + rta));
    rate[3] = 1e-3 * (r0b - r02b);
    rate[4] = 1e-3 * (r02b + r2b - r24b);
    rate[5] = 1e-3 * (r24b + r4b);
    rate[6] = 1e-3 * (rib2 - rb2b + rt2b2);
    rate[7] = 1e-3 * (rib + rb2b - rbt);
    rate[8] = 1e-3 * (rbt - rta - rtt2);
    rate[9] = 1e-3 * (rtt2 - rt2a - rt2b2);
    rate[10] = 1e-3 * (rta + rt2a - rai);
    rate[11] = 1e-3 * (rca4can - r0can - r2can - r4can);
    rate[12] = 1e-3 * (r0can - r02can);
    rate[13] = 1e-3 * (r2can + r02can - r24can);
    rate[14] = 1e-3 * (r4can + r24can);
    return 1e-3 * (2 * kinase_tot * (rtt2 - rb2b) - 2 * (r02 + r24 + r02b + r24b + rca4can + r02can + r24can));
}

// Calcium that calmodulin takes from the three compartments, and calmodulin that diffuses between them.
__device__ __forceinline__ void exchange(const float* y, float* rate, const float* parameters, const float* taken)
{
    const float myoplasm = 2.1454e-11, dyad = 1.7790e-14, sarcolemma = 6.6013e-13, to_myoplasm = 8.587e-15;
    const float k0b_off = 0.0014, k0b_on = k0b_off / 0.2, k2b_off = k0b_off / 100;
    rate[CA_J] = rate[CA_J] + 1e-3 * taken[0];
    rate[CA_SL] = rate[CA_SL] + 1e-3 * taken[1];
    rate[CA_I] = rate[CA_I] + 1e-3 * taken[2];

    const float* d = y + DYAD;
    const float kinase = parameters[3] * (d[6] + d[7] + d[8] + d[9]);
    const float total = d[0] + d[1] + d[2] + d[3] + d[4] + d[5] + kinase + d[12] + d[13] + d[14];
    const float bound = parameters[2] - total;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const float off = i == 0 ? k0b_off : k2b_off;
        const float inner = 1e-3 * (off * d[i] - k0b_on * bound * y[SARCOLEMMA + i]);
        const float outer = to_myoplasm * (y[SARCOLEMMA + i] - y[CYTOSOL + i]);
        rate[DYAD + i] = rate[DYAD + i] - inner;
        rate[SARCOLEMMA + i] = rate[SARCOLEMMA + i] + inner * dyad / sarcolemma - outer / sarcolemma;
        rate[CYTOSOL + i] = rate[CYTOSOL + i] + outer / myoplasm;
    }
}

__device__ __forceinline__ void rates(float time, const float* y, float* rate, const float* parameters, float* taken)
{
    currents_and_calcium(time, y, rate, parameters);
#pragma unroll 1
    for (int i = 0; i < COMPARTMENTS; ++i) {
        const int first = DYAD + i * STATES;
        taken[i] = calmodulin(y + first, rate + first, parameters + 1 + i * TOTALS, y[CA_J + i] * 1e3);
    }
    exchange(y, rate, parameters, taken);
    for (int i = 0; i < EQUATIONS; ++i)
        if (isnan(rate[i]) || isinf(rate[i]))
            rate[i] = 0.0001;
}

// One step of size `h` from `before` to `y`, with the error of each state; `k` are the rates of all stages.
__device__ __forceinline__ void fehlberg(float time, float h, const float* before, float* y, float* error,
                                         const float* parameters, float* k, float* taken)
{
#define K(stage) k[(stage) * EQUATIONS + i]
#define EACH(expression) \
    for (int i = 0; i < EQUATIONS; ++i) \
        y[i] = before[i] + h * (expression)

    for (int stage = 0; stage < STAGES; ++stage) {
        float at = time;
        switch (stage) {
        case 0:
            for (int i = 0; i < EQUATIONS; ++i)
                y[i] = before[i];
            break;
        case 1:
            at = time + (float)(2.0 / 27.0) * h;
            EACH((float)(2.0 / 27.0) * K(0));
            break;
        case 2:
            at = time + (float)(1.0 / 9.0) * h;
            EACH((float)(1.0 / 36.0) * K(0) + (float)(3.0 / 36.0) * K(1));
            break;
        case 3:
            at = time + (float)(1.0 / 6.0) * h;
            EACH((float)(1.0 / 24.0) * K(0) + (float)(3.0 / 24.0) * K(2));
            break;
        case 4:
            at = time + (float)(5.0 / 12.0) * h;
            EACH((float)(20.0 / 48.0) * K(0) + (float)(-75.0 / 48.0) * K(2) + (float)(75.0 / 48.0) * K(3));
            break;
        case 5:
            at = time + 0.5f * h;
            EACH((float)(1.0 / 20.0) * K(0) + (float)(5.0 / 20.0) * K(3) + (float)(4.0 / 20.0) * K(4));
            break;
        case 6:
            at = time + (float)(5.0 / 6.0) * h;
            EACH((float)(-25.0 / 108.0) * K(0) + (float)(125.0 / 108.0) * K(3) + (float)(-260.0 / 108.0) * K(4) +
                 (float)(250.0 / 108.0) * K(5));
            break;
        case 7:
            at = time + (float)(1.0 / 6.0) * h;
            EACH((float)(31.0 / 300.0) * K(0) + (float)(61.0 / 225.0) * K(4) + (float)(-2.0 / 9.0) * K(5) +
                 (float)(13.0 / 900.0) * K(6));
            break;
        case 8:
            at = time + (float)(2.0 / 3.0) * h;
            EACH(2.0f * K(0) + (float)(-53.0 / 6.0) * K(3) + (float)(704.0 / 45.0) * K(4) +
                 (float)(-107.0 / 9.0) * K(5) + (float)(67.0 / 90.0) * K(6) + 3.0f * K(7));
            break;
        case 9:
            at = time + (float)(1.0 / 3.0) * h;
            EACH((float)(-91.0 / 108.0) * K(0) + (float)(23.0 / 108.0) * K(3) + (float)(-976.0 / 135.0) * K(4) +
                 (float)(311.0 / 54.0) * K(5) + (float)(-19.0 / 60.0) * K(6) + (float)(17.0 / 6.0) * K(7) +
                 (float)(-1.0 / 12.0) * K(8));
            break;
        case 10:
            at = time + h;
            EACH((float)(2383.0 / 4100.0) * K(0) + (float)(-341.0 / 164.0) * K(3) + (float)(4496.0 / 1025.0) * K(4) +
                 (float)(-301.0 / 82.0) * K(5) + (float)(2133.0 / 4100.0) * K(6) + (float)(45.0 / 82.0) * K(7) +
                 (float)(45.0 / 164.0) * K(8) + (float)(18.0 / 41.0) * K(9));
            break;
        case 11:
            EACH((float)(3.0 / 205.0) * K(0) + (float)(-6.0 / 41.0) * K(5) + (float)(-3.0 / 205.0) * K(6) +
                 (float)(-3.0 / 41.0) * K(7) + (float)(3.0 / 41.0) * K(8) + (float)(6.0 / 41.0) * K(9));
            break;
        default:
            at = time + h;
            EACH((float)(-1777.0 / 4100.0) * K(0) + (float)(-341.0 / 164.0) * K(3) + (float)(4496.0 / 1025.0) * K(4) +
                 (float)(-289.0 / 82.0) * K(5) + (float)(2193.0 / 4100.0) * K(6) + (float)(51.0 / 82.0) * K(7) +
                 (float)(33.0 / 164.0) * K(8) + (float)(12.0 / 41.0) * K(9) + K(11));
            break;
        }
        rates(at, y, k + stage * EQUATIONS, parameters, taken);
    }

    for (int i = 0; i < EQUATIONS; ++i) {
        y[i] = before[i] + h * ((float)(41.0 / 840.0) * (K(0) + K(10)) + (float)(34.0 / 105.0) * K(5) +
                                (float)(9.0 / 35.0) * (K(6) + K(7)) + (float)(9.0 / 280.0) * (K(8) + K(9)));
        error[i] = fabs((float)(-41.0 / 840.0) * (K(0) + K(10) - K(11) - K(12)));
    }
}

// Every cell from each of its `steps` times to the next; `states` holds the states at all times, of which the first are
// given. A step that errs by more than `tolerance` of a state is tried again, smaller.
extern "C" __global__ void solve_cells(int cells, int steps, float interval, float tolerance, float* times,
                                       float* states, const float* all_parameters, float* all_taken, float* all_errors,
                                       float* all_scales, float* all_sizes, float* all_trials, float* all_stages)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const float* parameters = all_parameters + cell * PARAMETERS;
    float* error = all_errors + cell * EQUATIONS;
    float* scale = all_scales + cell * EQUATIONS;
    float* size = all_sizes + cell * EQUATIONS;
    float* trial = all_trials + cell * EQUATIONS;
    float* stages = all_stages + cell * STAGES * EQUATIONS;
    float* taken = all_taken + cell * 3;

    for (int step = 1; step <= steps; ++step) {
        float* state = states + ((long)cell * (steps + 1) + step) * EQUATIONS;
        const float* start = state - EQUATIONS;
        const float end = step * interval;
        float time = end - interval;
        float h = interval;
        int attempt = 0;

        while (time < end && attempt < ATTEMPTS) {
            fehlberg(time, h, start, trial, error, parameters, stages, taken);

            float smallest = LARGEST_SCALE;
            bool outside = false;
            for (int i = 0; i < EQUATIONS; ++i) {
                size[i] = fmaxf(fabs(start[i]), tolerance);
                if (error[i] > 0.0f) {
                    scale[i] = 0.8 * pow((double)(tolerance * size[i] / error[i]), 1.0 / 7.0);
                    if (scale[i] < smallest)
                        smallest = scale[i];
                }
                if (error[i] > tolerance * size[i])
                    outside = true;
            }
            const float factor = fminf(fmaxf(smallest, SMALLEST_SCALE), LARGEST_SCALE);
            if (outside) {
                attempt += 1;
            } else {
                attempt = 0;
                time = time + h;
                for (int i = 0; i < EQUATIONS; ++i)
                    state[i] = trial[i];
                start = state;
            }
            h = h * factor;
            if (time + h > end)
                h = end - time;
            else if (time + h + 0.5f * h > end)
                h = 0.5f * h;
        }
        times[cell * (steps + 1) + step] = time;
        if (attempt >= ATTEMPTS)
            return;
    }
}
