import Queue from "yocto-queue";
import { type FlowControlRecord, type GlobalParallelism } from "../flowControl";
import { Agenda } from "./agenda";
import { FlowControlKey, type Limits } from "./flowControlKey";
import { OrderedQueue } from "./orderedQueue";
import { removeItem } from "./removeItem";

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

/** Maximum number of idle keys that are kept; the longest idle key is forgotten first. */
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
  readonly #keys = new Map<string, FlowControlKey<Ticket<M>>>();
  readonly #idle = new Set<FlowControlKey<Ticket<M>>>();
  readonly #queues = new Map<string, OrderedQueue<Ticket<M>>>();
  readonly #withoutKey = new FlowControlKey<Ticket<M>>("", 0);
  /** Keys that may have capacity, in order of their turns. */
  readonly #ready = new Queue<FlowControlKey<Ticket<M>>>();
  readonly #agenda = new Agenda<Ticket<M> | FlowControlKey<Ticket<M>>>();
  #running = 0;
  /** Sum of the preset running counters of all keys. */
  #givenRunning = 0;

  /** @param parallelismMax maximum number of messages that run at the same time, over all keys */
  constructor(private readonly parallelismMax: number) {}

  /** When to call `take` next, if nothing happens before. */
  get wakeAt(): number | undefined {
    return this.#agenda.nextAt;
  }

  get global(): GlobalParallelism {
    return { parallelismMax: this.parallelismMax, parallelismCount: this.#givenRunning + this.#running };
  }

  get keyNames(): IterableIterator<string> {
    return this.#keys.keys();
  }

  record(key: string, now: number): FlowControlRecord | undefined {
    return this.#keys.get(key)?.record(now);
  }

  /** Adds a message, which waits until `due`. */
  add(message: M, due: number, now: number): Ticket<M> {
    const { flowControl } = message;
    const key = flowControl === undefined ? this.#withoutKey : this.#keyOf(flowControl.key, now);
    if (flowControl !== undefined) {
      key.configure(flowControl, now);
      this.#markReady(key);
    }
    const ticket = { message, key, epoch: 0, queue: undefined };
    if (due > now) {
      this.#agenda.add(due, ticket);
    } else {
      this.#enter(ticket);
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
        this.#enter(due);
      }
    }
    const taken: Ticket<M>[] = [];
    for (let { parallelismMax, parallelismCount } = this.global; parallelismCount < parallelismMax;) {
      const key = this.#ready.dequeue();
      if (key === undefined) break;
      key.isReady = false;
      const capacity = key.capacity(now);
      if (capacity === "yes") {
        const ticket = key.waiting.dequeue()!;
        ticket.epoch = key.begin();
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
    if (ticket.queue !== undefined) this.#endTurn(ticket.queue);
  }

  /** Removes a message wherever it waits. One that is being sent is unaffected. */
  remove(ticket: Ticket<M>): void {
    const { queue: name } = ticket.message;
    if (name !== undefined && this.#queues.get(name)?.remove(ticket)) return;
    const waited = removeItem(ticket.key.waiting, ticket) || this.#agenda.remove(ticket);
    if (!waited) return;
    this.#markIdle(ticket.key);
    if (ticket.queue !== undefined) this.#endTurn(ticket.queue);
  }

  /** Schedules a retry: the message waits until `due` and keeps its turn in its queue. */
  retry(ticket: Ticket<M>, due: number): void {
    this.#release(ticket);
    this.#agenda.add(due, ticket);
  }

  /** Adds a key with preset counters, or replaces everything of an existing one except its waiting messages. */
  setKey(record: FlowControlRecord, now: number, isSample = false): void {
    const key = new FlowControlKey<Ticket<M>>(record.flowControlKey, now, record, isSample);
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
    if (key === undefined) return false;
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

  /** Moves a message that is due to its queue, then to its key. */
  #enter(ticket: Ticket<M>): void {
    const { queue: name } = ticket.message;
    if (name === undefined || ticket.queue !== undefined) return this.#enterKey(ticket);
    let queue = this.#queues.get(name);
    if (queue === undefined) this.#queues.set(name, (queue = new OrderedQueue()));
    queue.add(ticket);
    this.#advance(queue);
  }

  #endTurn(queue: OrderedQueue<Ticket<M>>): void {
    queue.end();
    this.#advance(queue);
  }

  /** Releases the next message of a queue if it is its turn. */
  #advance(queue: OrderedQueue<Ticket<M>>): void {
    const ticket = queue.next();
    if (ticket === undefined) return;
    ticket.queue = queue;
    this.#enterKey(ticket);
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
      this.#keys.set(name, (key = new FlowControlKey(name, now)));
    }
    return key;
  }

  #forgetOne(now: number): void {
    if (this.#idle.size < mostIdleKeys) return;
    const [oldest] = this.#idle;
    this.#idle.delete(oldest!);
    if (oldest!.isForgettable(now)) {
      this.#keys.delete(oldest!.name);
    } else {
      this.#idle.add(oldest!);
    }
  }
}
