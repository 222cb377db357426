import { randomUUID } from "node:crypto";
import { type Callback, type PublishSettings } from "./publishHeaders";

/** A message to deliver. */
export interface Draft extends PublishSettings {
  readonly destination: string;
  readonly body: Buffer;
  readonly queue?: string | undefined;
}

/** An accepted message. */
export interface Message extends Draft {
  readonly messageId: string;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
  /** Number of retries so far. */
  retried: number;
}

/** The result of one attempt to deliver a message: a response or an error. */
export interface Attempt {
  /** Whether the destination responded with 2xx. */
  readonly ok: boolean;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string[] | undefined>> | undefined;
  /** The first bytes of the response body. */
  readonly body?: Buffer | undefined;
  /** The error message. */
  readonly error?: string | undefined;
}

export function newMessage(draft: Draft, now: number): Message {
  return { ...draft, messageId: `msg_${randomUUID()}`, createdAt: now, retried: 0 };
}

/** When a message is due: Unix time in milliseconds. */
export function dueAt({ delaySeconds = 0, notBefore = 0 }: Draft, now: number): number {
  return Math.max(now + delaySeconds * 1000, notBefore * 1000);
}

/** The message that reports the result of another message to its callback. */
export function callbackDraft(callback: Callback, message: Message, attempt: Attempt): Draft {
  const body = JSON.stringify({
    status: attempt.status ?? 0,
    header: attempt.headers ?? {},
    body: (attempt.body ?? Buffer.from(attempt.error ?? "")).toString("base64"),
    retried: message.retried,
    maxRetries: message.retries,
    sourceMessageId: message.messageId,
    url: message.destination,
    method: message.method,
    sourceHeader: message.headers,
    sourceBody: message.body.toString("base64"),
    createdAt: message.createdAt,
  });
  return {
    ...callback,
    headers: { "content-type": "application/json", ...callback.headers },
    body: Buffer.from(body),
  };
}
