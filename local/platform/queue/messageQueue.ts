import { type FlowControlRecord, type GlobalParallelism, sampleKey } from "../flowControl";
import { type SigningKeyStore } from "../signingKeys";
import { Alarm, type Clock, systemClock } from "./clock";
import { Sender } from "./delivery";
import { Dispatcher, type GivenParallelism, type Ticket } from "./dispatcher";
import { Events } from "./events";
import { type FlowControlKey, type Limits } from "./flowControlKey";
import { callbackDraft, type Draft, dueAt, type Message, newMessage } from "./messages";
import { type OrderedQueue, type QueueRecord } from "./orderedQueue";
import { type Schedule, Schedules } from "./schedules";

export interface MessageQueueOptions {
  /** Names of sample keys, or records. */
  readonly flowControlKeys: readonly (string | FlowControlRecord)[];
  readonly globalParallelism: GivenParallelism;
  /** Seconds before the first retry. The delay doubles with each further retry, up to a day. */
  readonly retryDelay: number;
  readonly signingKeys: SigningKeyStore;
}

/** The message queue, in memory. It delivers messages when the dispatcher releases them. */
export class MessageQueue {
  readonly events = new Events();
  readonly #options: MessageQueueOptions;
  readonly #clock: Clock;
  readonly #wake: Alarm;
  readonly #nextSchedule: Alarm;
  #dispatcher: Dispatcher<Message>;
  /** Messages that are neither delivered nor canceled, by id. */
  #live = new Map<string, Ticket<Message>>();
  #schedules = new Schedules();
  #sender: Sender;

  constructor(options: MessageQueueOptions, clock: Clock = systemClock) {
    this.#options = options;
    this.#clock = clock;
    this.#wake = new Alarm(clock, () => this.#dispatch());
    this.#nextSchedule = new Alarm(clock, () => this.#runSchedules());
    this.#dispatcher = this.#newDispatcher();
    this.#sender = new Sender(options.signingKeys);
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
      this.#live.set(message.messageId, this.#dispatcher.add(message, dueAt(message, now), now));
    }
    this.#dispatch();
    return messages;
  }

  /** Cancels a message. One that is being sent is not sent again. @returns whether it was not yet delivered */
  cancel(messageId: string): boolean {
    const ticket = this.#live.get(messageId);
    if (ticket === undefined) {
      return false;
    }
    this.#forget(ticket.message);
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
    this.#dispatcher.setKey(record);
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

  get queues(): QueueRecord[] {
    return [...this.#dispatcher.queues.values()].map((queue) => queue.record());
  }

  queue(name: string): QueueRecord | undefined {
    return this.#dispatcher.queues.get(name)?.record();
  }

  /** Adds or changes a queue. Missing settings are unchanged; a new queue has parallelism 1 and is not paused. */
  setQueue(name: string, { parallelism, isPaused }: { parallelism?: number; isPaused?: boolean }): void {
    const queue: OrderedQueue<Ticket<Message>> = this.#dispatcher.queueOf(name, this.now);
    queue.parallelism = parallelism ?? queue.parallelism;
    queue.isPaused = isPaused ?? queue.isPaused;
    queue.updatedAt = this.now;
    this.#dispatcher.advance(queue);
    this.#dispatch();
  }

  /** Deletes a queue and its waiting messages. */
  deleteQueue(name: string): boolean {
    const canceled = this.#dispatcher.deleteQueue(name);
    canceled?.forEach((message) => this.#forget(message));
    return canceled !== undefined;
  }

  get schedules(): ReadonlyMap<string, Schedule> {
    return this.#schedules.all;
  }

  addSchedule(scheduleId: string | undefined, cron: string, draft: Draft): Schedule {
    return this.#afterSchedules(this.#schedules.add(scheduleId, cron, draft, this.now));
  }

  pauseSchedule(id: string, isPaused: boolean): boolean {
    return this.#afterSchedules(this.#schedules.pause(id, isPaused, this.now));
  }

  deleteSchedule(id: string): boolean {
    return this.#afterSchedules(this.#schedules.delete(id));
  }

  /** Restores the initial keys, without messages, queues, schedules and events. */
  restore(): void {
    this.close();
    this.#sender = new Sender(this.#options.signingKeys);
    this.#schedules = new Schedules();
    this.#dispatcher = this.#newDispatcher();
    this.#live = new Map();
    this.events.clear();
  }

  /** Stops all timers and aborts all deliveries. */
  close(): void {
    this.#wake.set(undefined);
    this.#nextSchedule.set(undefined);
    this.#sender.close();
  }

  #newDispatcher(): Dispatcher<Message> {
    const dispatcher = new Dispatcher<Message>(this.#options.globalParallelism);
    for (const given of this.#options.flowControlKeys) {
      const isSample = typeof given === "string";
      dispatcher.setKey(isSample ? sampleKey(given) : given, isSample);
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
    if (sender.isClosed) {
      return;
    }
    const { now } = this;
    const outcome = { responseStatus: attempt.status, error: attempt.error };
    if (!this.#live.has(message.messageId)) {
      this.#dispatcher.end(ticket);
    } else if (!attempt.ok && message.retried < message.retries) {
      const nextDeliveryTime = now + Math.min(this.#options.retryDelay * 2 ** message.retried, 86_400) * 1000;
      message.retried++;
      this.events.add("RETRY", message, now, { ...outcome, nextDeliveryTime });
      this.#dispatcher.retry(ticket, nextDeliveryTime);
    } else {
      this.events.add(attempt.ok ? "DELIVERED" : "FAILED", message, now, outcome);
      this.#live.delete(message.messageId);
      this.#dispatcher.end(ticket);
      const callback = attempt.ok ? message.callback : message.failureCallback;
      if (callback !== undefined) {
        this.publish([callbackDraft(callback, message, attempt)]);
      }
    }
    this.#dispatch();
  }

  #forget(message: Message): void {
    this.#live.delete(message.messageId);
    this.events.add("CANCELED", message, this.now);
  }

  #runSchedules(): void {
    this.publish(this.#schedules.takeDue(this.now));
    this.#nextSchedule.set(this.#schedules.wakeAt);
  }

  #afterSchedules<T>(result: T): T {
    this.#nextSchedule.set(this.#schedules.wakeAt);
    return result;
  }
}
