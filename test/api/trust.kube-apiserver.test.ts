import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { makeCa } from "../../src/base/pki/make-certificate.ts";
import { Twins } from "../fuzz/twins.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps";
const TRUST = `${CONFIG_MAPS}/extension-apiserver-authentication`;
const TRACKING = `${CONFIG_MAPS}/kube-apiserver-legacy-service-account-token-tracking`;
const MERGE = "application/merge-patch+json";

suite("ConfigMaps that kube-apiserver maintains are equal", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let twins: Twins;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-trust-"));
    const now = Date.now();
    const [clients, proxies, more] = ["clients", "proxies", "more"].map((name) => makeCa(name, now));
    const [clientFile, proxyFile] = [path.join(folder, "clients.pem"), path.join(folder, "proxies.pem")];
    await writeFile(clientFile, `remark\n${clients?.certificate}${more?.certificate}`);
    await writeFile(proxyFile, proxies?.certificate ?? "");
    twins = await Twins.start([
      `--client-ca-file=${clientFile}`,
      `--requestheader-client-ca-file=${proxyFile}`,
      "--requestheader-username-headers=X-Remote-User,X-User",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      "--requestheader-allowed-names=front",
    ]);
  });
  after(async () => {
    await twins?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The object on both servers, once both have it and agree. */
  const agreed = (at: string) => {
    let difference = "";
    return eventually(
      async () => {
        const answers = await twins.call("GET", at);
        if (answers.some(({ status }) => status !== 200)) return undefined;
        const [theirs, ours] = answers.map(({ body }) => ({
          data: body.data,
          fields: body.metadata.managedFields.map(({ time: _, ...rest }: { time: string }) => rest),
        }));
        try {
          assert.deepEqual(ours, theirs);
          return ours;
        } catch (error) {
          difference = String(error);
          return undefined;
        }
      },
      { what: () => `${at} ${difference}` },
    );
  };

  test("extension-apiserver-authentication", async () => {
    const { data } = (await agreed(TRUST)) as { data: Record<string, string> };
    assert.deepEqual(Object.keys(data).sort(), [
      "client-ca-file",
      "requestheader-allowed-names",
      "requestheader-client-ca-file",
      "requestheader-extra-headers-prefix",
      "requestheader-group-headers",
      "requestheader-username-headers",
    ]);
    await twins.call("DELETE", TRUST);
    await agreed(TRUST);
  });

  test("kube-apiserver-legacy-service-account-token-tracking", async () => {
    await agreed(TRACKING);
    await twins.call("PATCH", TRACKING, { data: { since: "x", other: "y" } }, MERGE);
    const mended = (await eventually(async () => {
      const found = (await agreed(TRACKING)) as { data: Record<string, string> };
      return found.data.since !== "x" && found;
    })) as { data: Record<string, string> };
    assert.equal(mended.data.other, "y");
  });
});
