import { type FlowControlKey, getFlowControlKeysOutput, getGlobalParallelismOutput } from "pulumi-rekey";

/** What a dashboard shows of a key. A key without a maximum has no limit of that kind. */
function shown(key: FlowControlKey) {
  const { waitListSize, parallelismCount, parallelismMax, rateCount, rateMax } = key;
  const reached = [
    ...(parallelismCount >= (parallelismMax ?? Infinity) ? ["parallelism"] : []),
    ...(rateCount >= (rateMax ?? Infinity) ? ["rate"] : []),
  ];
  return { waiting: waitListSize, running: parallelismCount, parallelismMax, rateCount, rateMax, reached };
}

const all = getFlowControlKeysOutput().keys;

export const keys = all.apply((list) => Object.fromEntries(list.map((key) => [key.flowControlKey, shown(key)])));
export const waiting = all.apply((list) => list.reduce((sum, key) => sum + key.waitListSize, 0));
export const stuck = all.apply((list) =>
  list.filter((key) => key.waitListSize > 0 && shown(key).reached.length > 0).map((key) => key.flowControlKey),
);
export const everything = getGlobalParallelismOutput();
