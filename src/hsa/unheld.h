// SPDX-License-Identifier: MIT
// Dispatches that no tool wants pass on: they go to the hardware in the program's queue, at once, as they are. What
// windows have to know of them is here: none runs while a window is open that shuts its GPU's gate.
//
// One passes on behind a gate of its queue that is shut, or else, inside the engine's gate, while that is open; if
// neither can be, it is held like any other. It counts from then on, and a window that begins later waits for it,
// unless it is behind a gate that is still shut. So it must not wait itself for something that only a window brings
// about: behind a barrier whose dependencies are not met it is held, too.
#ifndef KR_HSA_UNHELD_H
#define KR_HSA_UNHELD_H

#include "hsa/state.h"

// May the next dispatch of the queue pass on? Counts it then. Called in the queue's callback.
bool kr_hsa_unheld_may_pass(struct kr_hsa_queue *queue);

// Another packet of the program's that comes by. Called in the queue's callback.
void kr_hsa_unheld_note_packet(struct kr_hsa_queue *queue, const void *packet);

// A dispatch is held: what follows is behind its gate, and that behind everything before it. Called in the queue's
// callback with the agent lock held, before the hardware sees the packets.
void kr_hsa_unheld_shut(struct kr_hsa_queue *queue, struct kr_hsa_dispatch *dispatch);

// With the agent lock held: may its gate be opened now? If something passes on behind it then, the engine's gate is
// needed for that, `entered` by the caller. Counts the gate as open if it returns true.
bool kr_hsa_unheld_may_open(struct kr_hsa_dispatch *dispatch, bool entered);

// Has all that passed on and can run on this GPU come to its end? What has died with its queue has.
bool kr_hsa_unheld_idle(struct kr_hsa_agent *agent);
// The same of one queue.
bool kr_hsa_unheld_queue_idle(struct kr_hsa_queue *queue);

#endif
