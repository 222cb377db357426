import Queue from "yocto-queue";
import { type FlowControlRecord, type GlobalParallelism } from "../flowControl";
import { Agenda } from "./agenda";
import { FlowControlKey, type Limits } from "./flowControlKey";
import { OrderedQueue } from "./orderedQueue";

/** The global parallelism; its count is given where it is to stand for other messages than those of the keys. */
export interface GivenParallelism {
  readonly parallelismMax: number;
  readonly parallelismCount?: number | undefined;
}

/** What the dispatcher must know of a message. */
export interface Dispatchable {
  readonly flowControl?: (Limits & { readonly key: string }) | undefined;
  /** Name of the queue it was put in. */
  readonly queue?: string | undefined;
}

/** A message on its way. */
export interface Ticket<M> {
  readonly message: M;
  /** The key that it waits for or counts for: one without a name, limits and record, where it has none. */
  key: FlowControlKey<Ticket<M>>;
  /** What `begin` of the key returned. */
  epoch: number;
  /** The queue whose turn it has. */
  queue: OrderedQueue<Ticket<M>> | undefined;
}

/** Most keys that are kept though nothing of theirs is left; the one that was idle longest is forgotten first. */
const mostIdleKeys = 10_000;

/**
 * Decides which message is dispatched when. It does no input or output and has no clock: each call says what has
 * happened, `take` answers what is to be sent now, `wakeAt` when to ask next. Times are in milliseconds.
 *
 * A message first waits until it is due, then for its turn in its queue, then in the wait list of its key; the keys
 * with capacity take turns at the global parallelism. Each message costs a constant time, however many keys and
 * messages wait.
 */
export class Dispatcher<M extends Dispatchable> {
  readonly #global: GivenParallelism;
  readonly #keys = new Map<string, FlowControlKey<Ticket<M>>>();
  readonly #idle = new Set<FlowControlKey<Ticket<M>>>();
  readonly #queues = new Map<string, OrderedQueue<Ticket<M>>>();
  readonly #withoutKey = new FlowControlKey<Ticket<M>>("");
  /** Keys that may have capacity, in the order of their turns. */
  readonly #ready = new Queue<FlowControlKey<Ticket<M>>>();
  readonly #agenda = new Agenda<Ticket<M> | FlowControlKey<Ticket<M>>>();
  #running = 0;
  /** Running messages that were set by hand, over all keys. */
  #givenRunning = 0;

  constructor(global: GivenParallelism) {
    this.#global = global;
  }

  /** When `take` is to be called next, if nothing happens before. */
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

  /** A message has come. It waits until `due`. */
  add(message: M, due: number, now: number): void {
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
  }

  /** The messages that are to be sent now, in this order. */
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

  /** A message was delivered or is given up. */
  end(ticket: Ticket<M>): void {
    this.#release(ticket);
    if (ticket.queue !== undefined) {
      ticket.queue.end();
      this.advance(ticket.queue);
    }
  }

  /** A message is to be sent again: it waits until `due`, and keeps its turn in its queue. */
  retry(ticket: Ticket<M>, due: number): void {
    this.#release(ticket);
    this.#agenda.add(due, ticket);
  }

  /** Adds a key with counters of its own, or replaces all that is known of it but the messages that wait. */
  setKey(record: FlowControlRecord): void {
    const key = new FlowControlKey<Ticket<M>>(record.flowControlKey, record);
    const before = this.#keys.get(key.name);
    if (before !== undefined) {
      this.#givenRunning -= before.givenRunning;
      this.#idle.delete(before);
      key.replace(before);
    }
    this.#givenRunning += key.givenRunning;
    this.#keys.set(key.name, key);
    this.#markReady(key);
  }

  /** Changes a key, if there is one, and looks at it again. */
  change(name: string, change: (key: FlowControlKey<Ticket<M>>) => void): boolean {
    const key = this.#keys.get(name);
    if (key === undefined) {
      return false;
    }
    this.#givenRunning -= key.givenRunning;
    change(key);
    this.#givenRunning += key.givenRunning;
    this.#markReady(key);
    return true;
  }

  /** Changes a key, which begins without limits where there is none. */
  changeOrAdd(name: string, now: number, change: (key: FlowControlKey<Ticket<M>>) => void): void {
    this.#keyOf(name, now);
    this.change(name, change);
  }

  /** The queue of this name, which begins with parallelism 1 where there is none. */
  queueOf(name: string, now: number): OrderedQueue<Ticket<M>> {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      this.#queues.set(name, (queue = new OrderedQueue(name, now)));
    }
    return queue;
  }

  /** Lets go on what has its turn in the queue, after the queue was changed. */
  advance(queue: OrderedQueue<Ticket<M>>): void {
    for (let ticket = queue.next(); ticket !== undefined; ticket = queue.next()) {
      ticket.queue = queue;
      this.#enterKey(ticket);
    }
  }

  /**
   * Forgets a queue. Answers the messages whose turn had not come, which go with it; `undefined` where there is none.
   */
  deleteQueue(name: string): M[] | undefined {
    const queue = this.#queues.get(name);
    this.#queues.delete(name);
    return queue?.drop().map(({ message }) => message);
  }

  /** A message is due: it waits for its turn in its queue, then for its key. */
  #enter(ticket: Ticket<M>, now: number): void {
    if (ticket.message.queue === undefined || ticket.queue !== undefined) {
      return this.#enterKey(ticket);
    }
    const queue = this.queueOf(ticket.message.queue, now);
    queue.add(ticket);
    this.advance(queue);
  }

  #enterKey(ticket: Ticket<M>): void {
    // The key may have been replaced, or forgotten, while the message waited for something else.
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
