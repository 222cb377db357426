import { type FlowControlRecord, type GlobalParallelism, sampleKey } from "../flowControl";
import { Alarm, type Clock, systemClock } from "./clock";
import { Sender } from "./delivery";
import { Dispatcher, type Ticket } from "./dispatcher";
import { Events } from "./events";
import { type FlowControlKey, type Limits } from "./flowControlKey";
import { callbackDraft, type Draft, dueAt, type Message, newMessage } from "./messages";

/** Maximum number of messages that run at the same time, over all keys. */
const globalParallelismMax = 100;

export interface MessageQueueOptions {
  /** Names of sample keys, or records. */
  readonly flowControlKeys: readonly (string | FlowControlRecord)[];
  /** The key that signs messages now. */
  readonly signingKey: () => string;
}

/** The message queue, in memory. It delivers messages when the dispatcher releases them. */
export class MessageQueue {
  readonly events = new Events();
  readonly #options: MessageQueueOptions;
  readonly #clock: Clock;
  readonly #wake: Alarm;
  #dispatcher: Dispatcher<Message>;
  /** Messages that are not delivered, have not finally failed and are not canceled, by id. */
  #pending = new Map<string, Ticket<Message>>();
  #sender: Sender;

  constructor(options: MessageQueueOptions, clock: Clock = systemClock) {
    this.#options = options;
    this.#clock = clock;
    this.#wake = new Alarm(clock, () => this.#dispatch());
    this.#dispatcher = this.#newDispatcher();
    this.#sender = new Sender(options.signingKey);
  }

  get now(): number {
    return this.#clock.now();
  }

  /** Adds messages, all of them before the first is dispatched. */
  publish(drafts: readonly Draft[]): Message[] {
    const { now } = this;
    const messages = drafts.map((draft) => newMessage(draft, now));
    for (const message of messages) {
      this.events.add("CREATED", message, now);
      this.#pending.set(message.messageId, this.#dispatcher.add(message, dueAt(message, now), now));
    }
    this.#dispatch();
    return messages;
  }

  /** Cancels a message. One that is being sent is not sent again. @returns whether it was pending */
  cancel(messageId: string): boolean {
    const ticket = this.#pending.get(messageId);
    if (ticket === undefined) return false;
    this.#pending.delete(messageId);
    this.events.add("CANCELED", ticket.message, this.now);
    this.#dispatcher.remove(ticket);
    this.#dispatch();
    return true;
  }

  /** The flow-control keys whose name contains `text`, with their current counters. */
  flowControlKeys(text = ""): FlowControlRecord[] {
    // The interface does not specify how a search matches; the public platform finds a part of the name.
    const names = [...this.#dispatcher.keyNames].filter((name) => name.includes(text));
    return names.map((name) => this.flowControlKey(name)!);
  }

  flowControlKey(key: string): FlowControlRecord | undefined {
    return this.#dispatcher.record(key, this.now);
  }

  get globalParallelism(): GlobalParallelism {
    return this.#dispatcher.global;
  }

  /** Adds a key with preset counters, or replaces everything of an existing one except its waiting messages. */
  setFlowControlKey(record: FlowControlRecord): void {
    this.#dispatcher.setKey(record, this.now);
    this.#dispatch();
  }

  /** Clears both counters, so that waiting messages are dispatched. @returns whether the key exists */
  resetFlowControl(key: string): boolean {
    return this.#change(key, (found) => {
      found.clearParallelism();
      found.clearRate(this.now);
    });
  }

  /** Clears only the rate counter. */
  resetRate(key: string): boolean {
    return this.#change(key, (found) => found.clearRate(this.now));
  }

  /** Pauses the delivery of a key, which need not exist yet. */
  pauseFlowControl(key: string): void {
    this.#dispatcher.changeOrAdd(key, this.now, (found) => (found.isPaused = true));
  }

  resumeFlowControl(key: string): boolean {
    return this.#change(key, (found) => (found.isPaused = false));
  }

  /** Pins limits of a key, which need not exist yet. */
  pinFlowControl(key: string, limits: Limits): void {
    this.#dispatcher.changeOrAdd(key, this.now, (found) => found.pin(limits, this.now));
    this.#dispatch();
  }

  unpinFlowControl(key: string, which: { parallelism: boolean; rate: boolean }): boolean {
    return this.#change(key, (found) => found.unpin(which));
  }

  /** Restores the initial keys, without messages, queues and events. */
  restore(): void {
    this.close();
    this.#sender = new Sender(this.#options.signingKey);
    this.#dispatcher = this.#newDispatcher();
    this.#pending.clear();
    this.events.clear();
  }

  /** Stops the timer and aborts all deliveries. */
  close(): void {
    this.#wake.set(undefined);
    this.#sender.close();
  }

  #newDispatcher(): Dispatcher<Message> {
    const dispatcher = new Dispatcher<Message>(globalParallelismMax);
    for (const given of this.#options.flowControlKeys) {
      const isSample = typeof given === "string";
      dispatcher.setKey(isSample ? sampleKey(given) : given, this.now, isSample);
    }
    return dispatcher;
  }

  #change(key: string, change: (key: FlowControlKey<Ticket<Message>>) => void): boolean {
    const found = this.#dispatcher.change(key, change);
    this.#dispatch();
    return found;
  }

  #dispatch(): void {
    for (const ticket of this.#dispatcher.take(this.now)) {
      void this.#deliver(ticket);
    }
    this.#wake.set(this.#dispatcher.wakeAt);
  }

  async #deliver(ticket: Ticket<Message>): Promise<void> {
    const { message } = ticket;
    const sender = this.#sender;
    this.events.add("ACTIVE", message, this.now);
    const attempt = await sender.send(message, this.now);
    if (sender.isClosed) return;
    const { now } = this;
    const outcome = { responseStatus: attempt.status, error: attempt.error };
    if (!this.#pending.has(message.messageId)) {
      this.#dispatcher.end(ticket);
    } else if (!attempt.ok && message.retried < message.retries) {
      // One second, which doubles with each further retry, up to a day.
      const nextDeliveryTime = now + Math.min(2 ** message.retried, 86_400) * 1000;
      message.retried++;
      this.events.add("RETRY", message, now, { ...outcome, nextDeliveryTime });
      this.#dispatcher.retry(ticket, nextDeliveryTime);
    } else {
      this.events.add(attempt.ok ? "DELIVERED" : "FAILED", message, now, outcome);
      this.#pending.delete(message.messageId);
      this.#dispatcher.end(ticket);
      const callback = attempt.ok ? message.callback : message.failureCallback;
      if (callback !== undefined) this.publish([callbackDraft(callback, message, attempt)]);
    }
    this.#dispatch();
  }
}
