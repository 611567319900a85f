import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { KubeObject } from "../../../../base/api/object.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { MemoryStore } from "../../../../storage/memory.ts";
import { TestCluster, until } from "../../shared/controllers.suite.ts";
import { bootstrapSigner } from "./bootstrap-signer.ts";
import { tokenCleaner } from "./token-cleaner.ts";

const TYPE = "bootstrap.kubernetes.io/token";

class BootstrapCluster extends TestCluster {
  readonly clock: ManualClock;

  constructor(clock = new ManualClock()) {
    super(new MemoryStore(), { clock });
    this.clock = clock;
  }

  /** Creates a bootstrap token, or another Secret with the same content. */
  async token(id: string, more: Record<string, string> = {}, type = TYPE, namespace = "kube-system"): Promise<void> {
    const texts = { "token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true", ...more };
    const data = Object.fromEntries(
      Object.entries(texts).map(([member, text]) => [member, Buffer.from(text).toString("base64")]),
    );
    await this.create("secrets", `bootstrap-token-${id}`, { namespace, content: { type, data } });
  }

  hasToken = async (id: string, namespace = "kube-system") =>
    (await this.find("secrets", `bootstrap-token-${id}`, namespace)) !== undefined;
}

suite("controllers of bootstrap tokens", () => {
  let cluster: BootstrapCluster;
  beforeEach(() => {
    cluster = new BootstrapCluster();
  });
  afterEach(async () => {
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });

  const inSeconds = (seconds: number) => ({ expiration: printTime(cluster.clock.now() + seconds * 1000) });

  test("token-cleaner deletes tokens when they expire", async () => {
    cluster.start(tokenCleaner(cluster));
    await cluster.token("aaaaaa", inSeconds(60));
    await cluster.token("bbbbbb");
    await cluster.token("cccccc", { expiration: "never" });
    await until(async () => !(await cluster.hasToken("cccccc")));
    await cluster.clock.advance(59_000);
    assert.ok(await cluster.hasToken("aaaaaa"));
    await cluster.clock.advance(1000);
    await until(async () => !(await cluster.hasToken("aaaaaa")));
    assert.ok(await cluster.hasToken("bbbbbb"));
  });

  test("token-cleaner leaves other Secrets alone", async () => {
    cluster.start(tokenCleaner(cluster));
    await cluster.token("aaaaaa", inSeconds(-1), "Opaque");
    await cluster.token("aaaaaa", inSeconds(-1), TYPE, "default");
    await cluster.token("bbbbbb", inSeconds(-1));
    await until(async () => !(await cluster.hasToken("bbbbbb")));
    assert.ok((await cluster.hasToken("aaaaaa")) && (await cluster.hasToken("aaaaaa", "default")));
  });

  const data = async () =>
    ((await cluster.find("configmaps", "cluster-info", "kube-public")) as KubeObject & { data: Record<string, string> })
      .data;
  const signers = async () => Object.keys(await data()).filter((member) => member !== "kubeconfig");
  const signedBy = async (...ids: string[]) => {
    const expected = ids.map((id) => `jws-kubeconfig-${id}`);
    await until(async () => (await signers()).join() === expected.join());
  };
  const publish = (kubeconfig: string) =>
    cluster.create("configmaps", "cluster-info", { namespace: "kube-public", content: { data: { kubeconfig } } });

  test("bootstrap-signer signs cluster-info with all tokens for signing", async () => {
    cluster.start(bootstrapSigner(cluster));
    await publish("content");
    await cluster.token("aaaaaa");
    await cluster.token("bbbbbb", { "usage-bootstrap-signing": "false" });
    await cluster.token("cccccc", inSeconds(-1));
    await cluster.token("dddddd", { "token-id": "eeeeee" });
    await signedBy("aaaaaa");
    const [header = "", content, signature] = ((await data())["jws-kubeconfig-aaaaaa"] ?? "").split(".");
    assert.equal(Buffer.from(header, "base64url").toString(), '{"alg":"HS256","kid":"aaaaaa"}');
    assert.equal(content, "");
    const signed = `${header}.${Buffer.from("content").toString("base64url")}`;
    assert.equal(signature, createHmac("sha256", "0123456789abcdef").update(signed).digest("base64url"));
  });

  test("bootstrap-signer follows the tokens and the content", async () => {
    await publish("content");
    await cluster.token("aaaaaa");
    cluster.start(bootstrapSigner(cluster));
    await signedBy("aaaaaa");
    await cluster.token("bbbbbb");
    await signedBy("aaaaaa", "bbbbbb");
    await cluster.delete("secrets", "bootstrap-token-aaaaaa", {}, "kube-system");
    await signedBy("bbbbbb");
    const before = (await data())["jws-kubeconfig-bbbbbb"];
    const change = (map: KubeObject) => Object.assign(map.data ?? {}, { kubeconfig: "other" });
    await cluster.change("configmaps", "cluster-info", change, "kube-public");
    await until(async () => (await data())["jws-kubeconfig-bbbbbb"] !== before);
  });
});
