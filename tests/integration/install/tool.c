// SPDX-License-Identifier: MIT
// What a tool author starts with: registers a tool once; a second time is refused.
#include <kreplay/kreplay.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    const kreplay_tool tool = {.size = sizeof(tool), .name = "nothing"};
    int first = kreplay_register(&tool), second = kreplay_register(&tool);
    printf("%s; %s\n", kreplay_status_text(first), kreplay_status_text(second));
    return first == KREPLAY_OK && second == KREPLAY_ALREADY_REGISTERED &&
                   strlen(kreplay_reason_text(KREPLAY_REASON_NONE)) > 0
               ? 0
               : 1;
}
