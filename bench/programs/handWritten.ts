// What a user would write without this package: a dynamic provider with axios.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import axios from "axios";

interface Inputs {
  databaseId: string;
  version: string;
}

async function resetPassword(databaseId: string): Promise<Record<string, unknown>> {
  const { REKEY_BASE_URL, REKEY_USERNAME, REKEY_PASSWORD } = process.env;
  if (!REKEY_BASE_URL || !REKEY_USERNAME || !REKEY_PASSWORD) {
    throw new Error("Set REKEY_BASE_URL, REKEY_USERNAME and REKEY_PASSWORD.");
  }
  try {
    const response = await axios.post<Record<string, unknown>>(
      `${REKEY_BASE_URL}/v2/keyvalue/reset-password/${encodeURIComponent(databaseId)}`,
      undefined,
      { auth: { username: REKEY_USERNAME, password: REKEY_PASSWORD }, timeout: 60_000 },
    );
    return response.data;
  } catch (error) {
    // The error contains the request, and so the password.
    if (!axios.isAxiosError(error)) throw error;
    const why = error.response ? `${error.response.status} ${JSON.stringify(error.response.data)}` : error.message;
    throw new Error(`Could not reset the password of ${databaseId}: ${why}`);
  }
}

const provider: pulumi.dynamic.ResourceProvider = {
  async check(_olds, news: Inputs) {
    const missing = (["databaseId", "version"] as const).filter((name) => !news[name]);
    return { inputs: news, failures: missing.map((property) => ({ property, reason: "must not be empty" })) };
  },
  async diff(_id, olds: Inputs, news: Inputs) {
    const replaces = olds.databaseId === news.databaseId ? [] : ["databaseId"];
    return { changes: olds.version !== news.version || replaces.length > 0, replaces };
  },
  async create(inputs: Inputs) {
    return { id: inputs.databaseId, outs: { ...inputs, record: await resetPassword(inputs.databaseId) } };
  },
  async update(_id, _olds, news: Inputs) {
    return { outs: { ...news, record: await resetPassword(news.databaseId) } };
  },
};

class HandWritten extends pulumi.dynamic.Resource {
  declare readonly record: pulumi.Output<Record<string, unknown>>;

  constructor(name: string, args: Inputs) {
    super(provider, name, { record: undefined, ...args });
  }
}

/** Versions by database. */
const databases = JSON.parse(readFileSync(join(__dirname, "databases.json"), "utf8")) as Record<string, string>;
for (const [databaseId, version] of Object.entries(databases)) new HandWritten(databaseId, { databaseId, version });
