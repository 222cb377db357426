import Queue from "yocto-queue";
import { type FlowControlRecord, type GlobalParallelism } from "../flowControl";
import { Agenda } from "./agenda";
import { FlowControlKey, type Limits } from "./flowControlKey";
import { OrderedQueue } from "./orderedQueue";
import { removeItem } from "./removeItem";

/** The global parallelism. A given count is added to the running messages of the queue. */
export interface GivenParallelism {
  readonly parallelismMax: number;
  readonly parallelismCount?: number | undefined;
}

/** The properties of a message that the dispatcher needs. */
export interface Dispatchable {
  readonly flowControl?: (Limits & { readonly key: string }) | undefined;
  /** Name of its queue. */
  readonly queue?: string | undefined;
}

/** A message that is waiting or running. */
export interface Ticket<M> {
  readonly message: M;
  /** The key of the message; a key without name, limits and record if it has none. */
  key: FlowControlKey<Ticket<M>>;
  /** The return value of the key's `begin`. */
  epoch: number;
  /** The queue that has released the message. */
  queue: OrderedQueue<Ticket<M>> | undefined;
}

/** Maximum number of idle keys that are kept; the one that was idle longest is forgotten first. */
const mostIdleKeys = 10_000;

/**
 * Decides when each message is dispatched. It does no I/O and has no clock: callers report what happened, `take`
 * returns the messages to send now, and `wakeAt` is the time of the next call. Times are in milliseconds.
 *
 * A message first waits until it is due, then for its turn in its queue, then in the wait list of its key. The keys
 * with capacity take turns at the global parallelism. The time per message is constant, regardless of the number of
 * keys and messages.
 */
export class Dispatcher<M extends Dispatchable> {
  readonly #global: GivenParallelism;
  readonly #keys = new Map<string, FlowControlKey<Ticket<M>>>();
  readonly #idle = new Set<FlowControlKey<Ticket<M>>>();
  readonly #queues = new Map<string, OrderedQueue<Ticket<M>>>();
  readonly #withoutKey = new FlowControlKey<Ticket<M>>("");
  /** Keys that may have capacity, in order of their turns. */
  readonly #ready = new Queue<FlowControlKey<Ticket<M>>>();
  readonly #agenda = new Agenda<Ticket<M> | FlowControlKey<Ticket<M>>>();
  #running = 0;
  /** Sum of the preset running counters of all keys. */
  #givenRunning = 0;

  constructor(global: GivenParallelism) {
    this.#global = global;
  }

  /** When to call `take` next, if nothing happens before. */
  get wakeAt(): number | undefined {
    return this.#agenda.nextAt;
  }

  get global(): GlobalParallelism {
    const { parallelismMax, parallelismCount = this.#givenRunning } = this.#global;
    return { parallelismMax, parallelismCount: parallelismCount + this.#running };
  }

  get queues(): ReadonlyMap<string, OrderedQueue<Ticket<M>>> {
    return this.#queues;
  }

  get keyNames(): IterableIterator<string> {
    return this.#keys.keys();
  }

  record(key: string, now: number): FlowControlRecord | undefined {
    return this.#keys.get(key)?.record(now);
  }

  /** Adds a message, which waits until `due`. */
  add(message: M, due: number, now: number): Ticket<M> {
    const { flowControl, queue } = message;
    const key = flowControl === undefined ? this.#withoutKey : this.#keyOf(flowControl.key, now);
    if (flowControl !== undefined) {
      key.configure(flowControl, now);
      this.#markReady(key);
    }
    if (queue !== undefined) {
      this.queueOf(queue, now);
    }
    const ticket = { message, key, epoch: 0, queue: undefined };
    if (due > now) {
      this.#agenda.add(due, ticket);
    } else {
      this.#enter(ticket, now);
    }
    return ticket;
  }

  /** The messages to send now, in this order. */
  take(now: number): Ticket<M>[] {
    for (let due = this.#agenda.takeDue(now); due !== undefined; due = this.#agenda.takeDue(now)) {
      if (due instanceof FlowControlKey) {
        due.wakeAt = Infinity;
        this.#markReady(due);
      } else {
        this.#enter(due, now);
      }
    }
    const taken: Ticket<M>[] = [];
    for (let { parallelismMax, parallelismCount } = this.global; parallelismCount < parallelismMax;) {
      const key = this.#ready.dequeue();
      if (key === undefined) {
        break;
      }
      key.isReady = false;
      const capacity = key.capacity(now);
      if (capacity === "yes") {
        const ticket = key.waiting.dequeue()!;
        ticket.epoch = key.begin(now);
        this.#running++;
        parallelismCount++;
        taken.push(ticket);
        this.#markReady(key);
      } else if (capacity !== "no" && capacity.later < key.wakeAt) {
        key.wakeAt = capacity.later;
        this.#agenda.add(capacity.later, key);
      }
    }
    return taken;
  }

  /** Ends a message that was delivered or has finally failed. */
  end(ticket: Ticket<M>): void {
    this.#release(ticket);
    if (ticket.queue !== undefined) {
      ticket.queue.end();
      this.advance(ticket.queue);
    }
  }

  /** Removes a message wherever it waits. One that runs is not affected. */
  remove(ticket: Ticket<M>): void {
    const { queue: name } = ticket.message;
    if (name !== undefined && ticket.queue === undefined && this.#queues.get(name)?.remove(ticket)) {
      return;
    }
    const waited = removeItem(ticket.key.waiting, ticket) || this.#agenda.remove(ticket);
    this.#markIdle(ticket.key);
    if (waited && ticket.queue !== undefined) {
      ticket.queue.end();
      this.advance(ticket.queue);
    }
  }

  /** Schedules a retry: the message waits until `due` and keeps its turn in its queue. */
  retry(ticket: Ticket<M>, due: number): void {
    this.#release(ticket);
    this.#agenda.add(due, ticket);
  }

  /** Adds a key with preset counters, or replaces everything of an existing one except its waiting messages. */
  setKey(record: FlowControlRecord, isSample = false): void {
    const key = new FlowControlKey<Ticket<M>>(record.flowControlKey, record, isSample);
    const before = this.#keys.get(key.name);
    if (before !== undefined) {
      this.#givenRunning -= before.givenRunning;
      this.#idle.delete(before);
      key.replace(before);
      for (const ticket of key.waiting) {
        ticket.key = key;
      }
    }
    this.#givenRunning += key.givenRunning;
    this.#keys.set(key.name, key);
    this.#markReady(key);
  }

  /** Changes a key and rechecks its capacity. @returns whether the key exists */
  change(name: string, change: (key: FlowControlKey<Ticket<M>>) => void): boolean {
    const key = this.#keys.get(name);
    if (key === undefined) {
      return false;
    }
    this.#givenRunning -= key.givenRunning;
    change(key);
    key.deliverSamples();
    this.#givenRunning += key.givenRunning;
    this.#markReady(key);
    return true;
  }

  /** Changes a key, which is created without limits if it does not exist. */
  changeOrAdd(name: string, now: number, change: (key: FlowControlKey<Ticket<M>>) => void): void {
    this.#keyOf(name, now);
    this.change(name, change);
  }

  /** The queue of this name, which is created with parallelism 1 if it does not exist. */
  queueOf(name: string, now: number): OrderedQueue<Ticket<M>> {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      this.#queues.set(name, (queue = new OrderedQueue(name, now)));
    }
    return queue;
  }

  /** Releases the messages whose turn it is, after a change of the queue. */
  advance(queue: OrderedQueue<Ticket<M>>): void {
    for (let ticket = queue.next(); ticket !== undefined; ticket = queue.next()) {
      ticket.queue = queue;
      this.#enterKey(ticket);
    }
  }

  /**
   * Deletes a queue. @returns the messages that were waiting in it, which are deleted too; undefined if it does not
   * exist
   */
  deleteQueue(name: string): M[] | undefined {
    const queue = this.#queues.get(name);
    this.#queues.delete(name);
    return queue?.drop().map(({ message }) => message);
  }

  /** Moves a message that is due to its queue, then to its key. */
  #enter(ticket: Ticket<M>, now: number): void {
    if (ticket.message.queue === undefined || ticket.queue !== undefined) {
      return this.#enterKey(ticket);
    }
    const queue = this.queueOf(ticket.message.queue, now);
    queue.add(ticket);
    this.advance(queue);
  }

  #enterKey(ticket: Ticket<M>): void {
    // The key may have been replaced or forgotten while the message was waiting elsewhere.
    const { flowControl } = ticket.message;
    ticket.key = (flowControl && this.#keys.get(flowControl.key)) ?? ticket.key;
    if (flowControl !== undefined && !this.#keys.has(flowControl.key)) {
      this.#keys.set(flowControl.key, ticket.key);
    }
    this.#idle.delete(ticket.key);
    ticket.key.waiting.enqueue(ticket);
    this.#markReady(ticket.key);
  }

  #release({ key, epoch }: Ticket<M>): void {
    key.end(epoch);
    this.#running--;
    this.#markReady(key);
    this.#markIdle(key);
  }

  #markIdle(key: FlowControlKey<Ticket<M>>): void {
    if (key.waiting.size === 0 && this.#keys.get(key.name) === key) {
      this.#idle.add(key);
    }
  }

  #markReady(key: FlowControlKey<Ticket<M>>): void {
    if (!key.isReady && key.waiting.size > 0) {
      key.isReady = true;
      this.#ready.enqueue(key);
    }
  }

  #keyOf(name: string, now: number): FlowControlKey<Ticket<M>> {
    let key = this.#keys.get(name);
    if (key === undefined) {
      this.#forgetOne(now);
      this.#keys.set(name, (key = new FlowControlKey(name)));
    }
    return key;
  }

  #forgetOne(now: number): void {
    if (this.#idle.size < mostIdleKeys) {
      return;
    }
    const [oldest] = this.#idle;
    this.#idle.delete(oldest!);
    if (oldest!.isForgettable(now)) {
      this.#keys.delete(oldest!.name);
    } else {
      this.#idle.add(oldest!);
    }
  }
}
