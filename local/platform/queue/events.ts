import { type Message } from "./messages";

export type EventState = "CREATED" | "ACTIVE" | "DELIVERED" | "RETRY" | "FAILED" | "CANCELED";

/** An event of a message. Its headers and body are not kept, because they may contain credentials. */
export interface QueueEvent {
  /** Unix time in milliseconds. */
  readonly time: number;
  readonly state: EventState;
  readonly messageId: string;
  readonly url: string;
  readonly flowControlKey?: string | undefined;
  readonly queueName?: string | undefined;
  readonly label?: string | undefined;
  /** Status of the destination's response. */
  readonly responseStatus?: number | undefined;
  readonly error?: string | undefined;
  /** Time of the next attempt: Unix time in milliseconds. */
  readonly nextDeliveryTime?: number | undefined;
}

export interface EventPage {
  readonly events: readonly QueueEvent[];
  /** Start of the next page; undefined on the last one. */
  readonly cursor?: string | undefined;
}

/** Maximum age of events in milliseconds: 14 days. @see docs/interface.md#limits */
const maxAgeMs = 14 * 86_400_000;
/** Maximum size of all events, as JSON. They are kept for their age, whatever their number. */
const maxBytes = 32 * 1024 * 1024;

/** The events of messages, in memory. */
export class Events {
  readonly #events: { readonly order: number; readonly event: QueueEvent; readonly bytes: number }[] = [];
  #order = 0;
  #bytes = 0;

  add(
    state: EventState,
    { messageId, destination: url, flowControl, queue: queueName, label }: Message,
    time: number,
    more: Pick<QueueEvent, "responseStatus" | "error" | "nextDeliveryTime"> = {},
  ): void {
    const event = { time, state, messageId, url, flowControlKey: flowControl?.key, queueName, label, ...more };
    const bytes = Buffer.byteLength(JSON.stringify(event));
    this.#events.push({ order: this.#order++, event, bytes });
    this.#bytes += bytes;
    this.#removeOldest();
  }

  /** The events that match the filter, newest first, starting at `cursor`. */
  page(filter: (event: QueueEvent) => boolean, count: number, now: number, cursor = Infinity): EventPage {
    const events: QueueEvent[] = [];
    for (let index = this.#events.length - 1; index >= 0; index--) {
      const { order, event } = this.#events[index]!;
      if (event.time < now - maxAgeMs) {
        break;
      }
      if (order >= cursor || !filter(event)) {
        continue;
      }
      if (events.length === count) {
        return { events, cursor: String(order + 1) };
      }
      events.push(event);
    }
    return { events };
  }

  clear(): void {
    this.#events.length = 0;
    this.#bytes = 0;
  }

  /** Removes the oldest events if there are too many bytes; several at once, which is cheaper. */
  #removeOldest(): void {
    if (this.#bytes <= maxBytes) {
      return;
    }
    let count = 0;
    while (this.#bytes > maxBytes * 0.9) {
      this.#bytes -= this.#events[count++]!.bytes;
    }
    this.#events.splice(0, count);
  }
}
