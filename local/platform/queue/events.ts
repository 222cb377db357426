import { addBounded } from "../bounded";
import { type Message } from "./messages";

export type EventState = "CREATED" | "ACTIVE" | "DELIVERED" | "RETRY" | "FAILED" | "CANCELED";

/** Something that happened to a message. Its headers and body are not kept: they may carry credentials. */
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
  /** Status that the destination answered. */
  readonly responseStatus?: number | undefined;
  readonly error?: string | undefined;
  /** Unix time in milliseconds of the next try. */
  readonly nextDeliveryTime?: number | undefined;
}

export interface EventPage {
  readonly events: readonly QueueEvent[];
  /** Where the next page begins; left out at the end. */
  readonly cursor?: string | undefined;
}

/** Milliseconds for which events are shown: 14 days (interface, section 8). */
const longest = 14 * 86_400_000;
/** At least so many of the newest events are kept. */
const least = 10_000;

/** What happened to messages, in memory. */
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

  /** The newest first, of those that the filter lets through, from where `cursor` says. */
  page(filter: (event: QueueEvent) => boolean, count: number, now: number, cursor = Infinity): EventPage {
    const events: QueueEvent[] = [];
    for (let index = this.#events.length - 1; index >= 0; index--) {
      const { order, event } = this.#events[index]!;
      if (event.time < now - longest) {
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
