import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { type AddressInfo } from "node:net";
import { caFile, certificate } from "../faults/certificates";
import { Folder } from "../support/folder";
import { archiveName, PluginSource, whyNoPrograms } from "../support/pluginArchive";
import { runAsync } from "../support/processes";
import { packageVersion } from "../../provider/platform/version";

/** As in a released schema: while there is no public repository, the schema has no address. */
const downloadUrl = "github://api.github.com/acme/rotations";

const why = whyNoPrograms("pulumi-language-yaml");
(why === undefined ? describe : describe.skip)(
  `The plugin that the CLI installs${why ? ` (skipped: ${why})` : ""}`,
  () => {
    let source: PluginSource;
    let folder: Folder;
    before(async () => void (source = await PluginSource.start()));
    beforeEach(() => void (folder = new Folder()));
    afterEach(() => folder.remove());
    after(() => source.stop());

    it("comes from the newest release at the address of the repository", async () => {
      const [, owner] = /^github:\/\/api\.github\.com\/(.*)$/.exec(downloadUrl) ?? assert.fail();
      const requests: string[] = [];
      const release = { tag_name: `v${packageVersion()}` };
      const server = createServer(certificate("good"), ({ url = "" }, response) => {
        requests.push(url);
        const name = url.replace("/assets/", "");
        const assets = source.files.map((file) => ({ name: file, url: `https://${address}/assets/${file}` }));
        if (source.files.includes(name)) response.end(readFileSync(source.folder.path(name)));
        else response.end(JSON.stringify({ ...release, assets }));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;

      folder.write("Pulumi.yaml", "name: program\nruntime: yaml\n");
      const env = {
        ...source.environment(folder.path("home")),
        PULUMI_BACKEND_URL: `file://${folder.directory}`,
        PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: `^github://api.github.com/(.*)$=github://${address}/$1`,
        SSL_CERT_FILE: caFile,
      };
      const command = ["package", "add", "rekey", "--server", downloadUrl];
      const { code, output } = await runAsync("pulumi", command, { cwd: folder.directory, env });
      server.close();
      assert.equal(code, 0, output);
      const releases = `/repos/${owner}/releases`;
      const archive = `/assets/${archiveName()}`;
      assert.deepEqual(
        [...new Set(requests)],
        [`${releases}/latest`, `${releases}/tags/v${packageVersion()}`, archive],
      );
      assert.match(readFileSync(folder.path("Pulumi.yaml"), "utf8"), new RegExp(downloadUrl));
    });
  },
);
