// SPDX-License-Identifier: MIT
// Open-ended: a dispatch is repeated until the standard error of its mean time is below five percent, or forty
// times. In C++, but without its library: in a profiled program there is only what the program brought.
#include <kreplay/kreplay.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace
{

constexpr unsigned least = 3, most = 40;
constexpr double enough = 0.05;

// Mean and variance as they come. Source: B. P. Welford, "Note on a method for calculating corrected sums of
// squares and products", Technometrics 4, 1962.
class statistics
{
  public:
    void add(double x)
    {
        n_++;
        const double off = x - mean_;
        mean_ += off / n_;
        squares_ += off * (x - mean_);
    }
    unsigned count() const { return n_; }
    double mean() const { return mean_; }
    bool stable() const
    {
        if (n_ < least)
            return false;
        const double error_squared = squares_ / (n_ - 1) / n_;
        return error_squared <= enough * enough * mean_ * mean_;
    }

  private:
    unsigned n_ = 0;
    double mean_ = 0, squares_ = 0;
};

int go_on(const kreplay_dispatch *, uint32_t, uint32_t, kreplay_user_data data)
{
    const auto *times = static_cast<const statistics *>(data.pointer);
    return !times->stable() && times->count() < most;
}

void on_config(void *, kreplay_phase phase, kreplay_config *config)
{
    if (phase == KREPLAY_EXIT) {
        const auto *times = static_cast<const statistics *>(config->user_data.pointer);
        if (times)
            std::fprintf(stderr, "until_stable: dispatch %" PRIu64 ": %u passes, %.0f ns%s\n",
                         config->dispatch->dispatch_id, times->count(), times->mean(),
                         times->stable() ? "" : ", not stable");
        std::free(config->user_data.pointer);
        return;
    }
    void *memory = std::malloc(sizeof(statistics));
    if (memory)
        *static_cast<statistics *>(memory) = statistics();
    config->user_data.pointer = memory;
    config->want = memory != nullptr;
    config->pass_count = 0;
    config->continue_fn = go_on;
    config->min_passes = least;
}

void on_pass(void *, kreplay_phase phase, kreplay_pass *pass)
{
    if (phase == KREPLAY_EXIT && pass->record)
        static_cast<statistics *>(pass->user_data.pointer)
            ->add(static_cast<double>(pass->record->end_ns - pass->record->start_ns));
}

} // namespace

int kreplay_tool_start(void)
{
    kreplay_tool tool = {};
    tool.size = sizeof tool;
    tool.name = "until_stable";
    tool.config = on_config;
    tool.pass = on_pass;
    return kreplay_register(&tool);
}
