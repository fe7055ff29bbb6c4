/* stats.c — p-values, confidence intervals, and correction for multiple tests. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TERMS = 100000 };

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* Keeps a continued fraction from dividing by zero. */
static double not_zero(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* P(a, x), the lower incomplete gamma function, by its series; good for x < a + 1. */
static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < MOST_TERMS && term > sum * 1e-16; n++)
        sum += term *= x / (a + n);
    return sum * exp(a * log(x) - x - log_gamma(a));
}

/* Q(a, x), the upper one, by Lentz's continued fraction; good for x >= a + 1. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / not_zero(b), h = d;
    for (int i = 1; i < MOST_TERMS; i++) {
        double an = i * (a - i), step;
        b += 2;
        d = 1 / not_zero(an * d + b);
        c = not_zero(b + an / c);
        h *= step = c * d;
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return h * exp(a * log(x) - x - log_gamma(a));
}

double p_chi_square(double chi_square, double freedom)
{
    double a = freedom / 2, x = chi_square / 2;
    if (x <= 0)
        return 1;
    return x < a + 1 ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

/* The continued fraction of the incomplete beta function, odd and even terms in turn. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), step;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        h *= d * c;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        h *= step = d * c;
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return h;
}

/* I_x(a, b), the regularised incomplete beta function. */
static double beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P[X >= hits] and P[X <= hits] of a binomial X. */
static double at_least(double hits, double trials, double probability)
{
    return hits <= 0 ? 1 : beta(hits, trials - hits + 1, probability);
}

static double at_most(double hits, double trials, double probability)
{
    return hits >= trials ? 1 : beta(trials - hits, hits + 1, 1 - probability);
}

double p_normal(double z)
{
    return erfc(fabs(z) / sqrt(2));
}

double p_binomial(double hits, double trials, double probability)
{
    return fmin(1, 2 * fmin(at_least(hits, trials, probability), at_most(hits, trials, probability)));
}

/* The probability at which a tail is 2.5 %, by bisection. */
static double tail_end(double hits, double trials, double (*tail)(double, double, double), bool grows)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if ((tail(hits, trials, middle) < 0.025) == grows)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct interval interval_of(double hits, double trials)
{
    return (struct interval){ hits <= 0 ? 0 : tail_end(hits, trials, at_least, true),
                              hits >= trials ? 1 : tail_end(hits, trials, at_most, false) };
}

static int by_value(const void *a, const void *b)
{
    double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

double correct(double *p_values, size_t count)
{
    double **order = need(count, sizeof *order), largest = 0;
    for (size_t i = 0; i < count; i++)
        order[i] = p_values + i;
    qsort(order, count, sizeof *order, by_value);
    for (size_t i = 0; i < count; i++)
        *order[i] = largest = fmax(largest, fmin(1, *order[i] * (double)(count - i)));
    double smallest = count ? *order[0] : 1;
    free(order);
    return smallest;
}
