import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { queueToken } from "../../../../provider/domain/secretKind";
import { type NextTokens } from "../../../../provider/platform/nextTokens";
import { type Credentials } from "../../../../provider/records/fields";
import { type RotationInputs } from "../../../../provider/rotation/program/program";
import { type Came, RotatedSecret } from "../../../support/rotatedSecret";

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

/** A token of the queue of which two may be valid, over many runs. */
export class OverlappingToken {
  readonly secret = new RotatedSecret(queueToken, undefined, "u");
  current = "t0";
  next: string | undefined;
  /** What the reads of an `up` show. */
  shown: { token?: string | undefined } = {};
  /** Requests that changed something. */
  readonly sent: string[] = [];
  /** Other fields that a read shows. */
  otherFields: string | undefined;
  /** Whether the queue accepts no token for now. */
  isAway = false;
  /** Is called before the next token is made or rolled, and may throw. */
  fails: { readonly next?: () => void; readonly roll?: () => void } = {};
  #made = 0;

  constructor() {
    this.secret.fake.probe = ({ credential }) => {
      const isValid = !this.isAway && [this.current, this.next].includes(credential.value);
      return isValid ? { kind: "accepted" } : { kind: "refused", words: "no" };
    };
  }

  up(hours: number, desired: RotationInputs): Promise<Came> {
    const { secret } = this;
    this.sent.length = 0;
    secret.hours = hours;
    const nextTokens: Pick<NextTokens, "prepare" | "roll"> = {
      prepare: async () => {
        this.sent.push("next");
        this.fails.next?.();
        this.next ??= `t${++this.#made}`;
        return { token: this.next };
      },
      roll: async (_, hash) => {
        this.sent.push("roll");
        this.fails.roll?.();
        assert.equal(hash, hashOf(String(this.next)));
        this.roll();
      },
    };
    const responds = () => {
      this.sent.push("reset");
      this.next = undefined;
      this.current = `t${++this.#made}`;
      return { credentials: { token: this.current } };
    };
    this.shown = { token: this.current };
    const { otherFields, shown } = this;
    return secret.up(desired, {
      shows: shown as Credentials,
      otherFields,
      responds,
      parts: { nextTokens: nextTokens as NextTokens },
    });
  }

  /** As a Retirement, or someone else. */
  roll(): void {
    this.current = this.next ?? this.current;
    this.next = undefined;
  }

  preview(hours: number, desired: RotationInputs): string {
    this.secret.hours = hours;
    return this.secret.preview(desired);
  }
}
