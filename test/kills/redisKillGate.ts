import { setTimeout as wait } from "node:timers/promises";
import { type RedisGate } from "../support/redisGate";
import { type GateStrike, type KillGate } from "./gate";

/** Before a Redis. Commands are matched with their arguments: `ACL GETUSER app`. */
export class RedisKillGate implements KillGate {
  constructor(readonly gate: RedisGate) {}

  begin(strike: GateStrike | undefined): void {
    let count = 0;
    this.gate.meet = async (command, point) => {
      if (!strike?.matching.test(command)) return undefined;
      if (point === "arrived") count++;
      const goesOn = count !== strike.at || point !== strike.point || (await strike.act());
      return goesOn ? undefined : "close";
    };
  }

  async settled(): Promise<void> {
    while (this.gate.underWay > 0 || this.gate.open > 0) await wait(5);
  }

  close(): Promise<void> {
    return this.gate.close();
  }
}
