import { addBounded } from "../bounded";
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
  readonly scheduleId?: string | undefined;
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
/** Minimum number of events that are kept. */
const least = 10_000;

/** The events of messages, in memory. */
export class Events {
  readonly #events: { readonly order: number; readonly event: QueueEvent }[] = [];
  #order = 0;

  add(
    state: EventState,
    { messageId, destination: url, flowControl, queue: queueName, scheduleId, label }: Message,
    time: number,
    more: Pick<QueueEvent, "responseStatus" | "error" | "nextDeliveryTime"> = {},
  ): void {
    const event = {
      time,
      state,
      messageId,
      url,
      flowControlKey: flowControl?.key,
      queueName,
      scheduleId,
      label,
      ...more,
    };
    addBounded(this.#events, { order: this.#order++, event }, least);
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
  }
}
