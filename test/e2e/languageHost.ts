import { spawn } from "node:child_process";
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { LanguageRuntimeService } from "@pulumi/pulumi/proto/language_grpc_pb";
import {
  GetRequiredPackagesResponse,
  type InstallDependenciesRequest,
  LanguageHandshakeResponse,
  type RunRequest,
  RunResponse,
} from "@pulumi/pulumi/proto/language_pb";
import { projectRoot } from "../support/host";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";

type Unary<Request, Response> = (call: ServerUnaryCall<Request, Response>, respond: sendUnaryData<Response>) => void;

const runIn =
  (directory: string): Unary<RunRequest, RunResponse> =>
  ({ request }, respond) => {
    const args = {
      monitor: request.getMonitorAddress(),
      engine: request.getArgsList()[0] ?? "",
      organization: request.getOrganization(),
      project: request.getProject(),
      "root-directory": request.getInfo()?.getRootDirectory() ?? "",
      stack: request.getStack(),
      pwd: request.getPwd(),
      parallel: String(request.getParallel()),
    };
    const flags = Object.entries(args).flatMap(([name, value]) => (value === "" ? [] : [`--${name}`, value]));
    if (request.getDryrun()) flags.push("--dry-run");
    const program = require.resolve("@pulumi/pulumi/cmd/run", { paths: [directory] });
    const child = spawn(process.execPath, [program, ...flags, request.getProgram() || "."], {
      cwd: request.getInfo()?.getProgramDirectory() || request.getPwd(),
      stdio: "inherit",
      env: {
        ...process.env,
        PULUMI_NODEJS_TYPESCRIPT: "true",
        PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().getEntryList())),
        PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
      },
    });
    child.once("close", (code) => respond(null, new RunResponse().setError(code === 0 ? "" : `it ended with ${code}`)));
  };

/**
 * Runs programs as Pulumi's language host for Node.js does, which is an executable that only the official CLI has: in
 * the folder of `main`, by the SDK's own command.
 *
 * @param directory where that SDK is found
 * @param install installs the packages of a project, whose folder it gets
 */
export async function startLanguageHost(
  directory = projectRoot,
  install: (project: string) => void = () => undefined,
): Promise<{ readonly address: string; close(): void }> {
  const server = new Server();
  const implementation = {
    handshake: (_call: unknown, respond: sendUnaryData<LanguageHandshakeResponse>) =>
      respond(null, new LanguageHandshakeResponse()),
    installDependencies: (call: ServerWritableStream<InstallDependenciesRequest, unknown>) => {
      install(call.request.getInfo()?.getProgramDirectory() ?? "");
      call.end();
    },
    run: runIn(directory),
    getRequiredPackages: (_call: unknown, respond: sendUnaryData<GetRequiredPackagesResponse>) =>
      respond(null, new GetRequiredPackagesResponse()),
    getPluginInfo: (_call: unknown, respond: sendUnaryData<PluginInfo>) =>
      respond(null, new PluginInfo().setVersion("1.0.0")),
  };
  server.addService(LanguageRuntimeService, implementation);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}
