import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { KubeObject } from "../../../../base/api/object.ts";
import type { Secret, ServiceAccount } from "../../../../kinds/types/secret.ts";
import { secretText } from "../../../../kinds/types/secret.ts";
import { TestCluster, until } from "../../shared/controllers.suite.ts";
import { serviceAccountTokens } from "./serviceaccount-token.ts";

const CA = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";
const TYPE = "kubernetes.io/service-account-token";
const ACCOUNT = "kubernetes.io/service-account.name";
const UID = "kubernetes.io/service-account.uid";

suite("serviceaccount-token-controller", () => {
  let cluster: TestCluster;
  let account: KubeObject;

  beforeEach(async () => {
    cluster = new TestCluster();
    account = await cluster.create("serviceaccounts", "robot");
    const credentials = { rootCa: CA, signToken: (claims: object) => `signed ${JSON.stringify(claims)}` };
    cluster.start(serviceAccountTokens(cluster, credentials));
  });
  afterEach(async () => {
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });

  const create = (name: string, annotations: Record<string, string>, data?: Record<string, string>) => {
    const metadata = { name, namespace: "default", annotations };
    const secret: KubeObject = { kind: "Secret", apiVersion: "v1", metadata, type: TYPE, ...(data && { data }) };
    return cluster.client.create(cluster.resource("secrets"), secret);
  };
  const find = async (name: string) => (await cluster.find("secrets", name)) as Secret | undefined;
  const completed = async (name: string): Promise<Secret> => {
    await until(async () => (await find(name))?.data?.token !== undefined);
    return (await find(name)) ?? assert.fail();
  };

  test("writes the token, the CA and the namespace", async () => {
    await create("token", { [ACCOUNT]: "robot" });
    const secret = await completed("token");
    const uid = account.metadata.uid ?? "";
    assert.deepEqual(secret.metadata.annotations, { [ACCOUNT]: "robot", [UID]: uid });
    assert.equal(secretText(secret, "ca.crt"), CA);
    assert.equal(secretText(secret, "namespace"), "default");
    const token = secretText(secret, "token");
    assert.deepEqual(JSON.parse(token.replace("signed ", "")), {
      iss: "kubernetes/serviceaccount",
      sub: "system:serviceaccount:default:robot",
      "kubernetes.io/serviceaccount/namespace": "default",
      "kubernetes.io/serviceaccount/secret.name": "token",
      "kubernetes.io/serviceaccount/service-account.name": "robot",
      "kubernetes.io/serviceaccount/service-account.uid": uid,
    });
  });

  test("keeps a given namespace and other members, and replaces another CA", async () => {
    const encode = (text: string) => Buffer.from(text).toString("base64");
    await create(
      "token",
      { [ACCOUNT]: "robot" },
      { namespace: encode("mine"), more: encode("x"), "ca.crt": encode("y") },
    );
    const secret = await completed("token");
    const texts = ["namespace", "more", "ca.crt"].map((member) => secretText(secret, member));
    assert.deepEqual(texts, ["mine", "x", CA]);
  });

  test("writes a deleted token again", async () => {
    await create("token", { [ACCOUNT]: "robot" });
    await completed("token");
    await cluster.change("secrets", "token", (secret) => {
      secret.data = {};
    });
    assert.equal(secretText(await completed("token"), "ca.crt"), CA);
  });

  test("deletes the tokens of a deleted or recreated ServiceAccount", async () => {
    await create("token", { [ACCOUNT]: "robot" });
    await completed("token");
    await cluster.delete("serviceaccounts", "robot");
    await until(async () => (await find("token")) === undefined);
    await cluster.create("serviceaccounts", "robot");
    await create("stale", { [ACCOUNT]: "robot", [UID]: account.metadata.uid ?? "" });
    await create("fresh", { [ACCOUNT]: "robot" });
    await completed("fresh");
    await until(async () => (await find("stale")) === undefined);
  });

  test("deletes a token without a ServiceAccount", async () => {
    await create("token", { [ACCOUNT]: "nobody" });
    await until(async () => (await find("token")) === undefined);
  });

  test("removes a deleted Secret from its ServiceAccount", async () => {
    await create("token", { [ACCOUNT]: "robot" });
    await completed("token");
    await cluster.change("serviceaccounts", "robot", (robot) => {
      robot.secrets = [{ name: "token" }, { name: "other" }];
    });
    await cluster.delete("secrets", "token");
    const listed = async () => ((await cluster.find("serviceaccounts", "robot")) as ServiceAccount).secrets;
    await until(async () => (await listed())?.length === 1);
    assert.deepEqual(await listed(), [{ name: "other" }]);
  });

  test("does not touch Secrets of other types", async () => {
    const metadata = { annotations: { [ACCOUNT]: "nobody" } };
    await cluster.create("secrets", "other", { content: { type: "Opaque" } });
    await cluster.change("secrets", "other", (secret) => Object.assign(secret.metadata, metadata));
    await create("token", { [ACCOUNT]: "robot" });
    await completed("token");
    assert.equal((await find("other"))?.data, undefined);
  });
});
