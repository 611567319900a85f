import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { Authenticator } from "../src/access/authentication/authenticator.ts";
import { signToken } from "../src/access/authentication/service-accounts/json-web-token.ts";
import { type SigningKey, signingKey, verifyingKey } from "../src/access/authentication/service-accounts/keys.ts";
import { AccountTokenAuthenticator } from "../src/access/authentication/service-accounts/token-authenticator.ts";
import { TokenCache } from "../src/access/authentication/token-cache.ts";
import type { JsonObject } from "../src/base/api/object.ts";
import { systemClock } from "../src/base/util/clock.ts";
import { systemRandom } from "../src/base/util/random.ts";
import { builtInKinds } from "../src/kinds/built-in/all.ts";
import { Catalog } from "../src/resources/model/catalog.ts";
import { KeySpace } from "../src/resources/model/keys.ts";
import { storedResource } from "../src/resources/model/stored-resource.ts";
import { Resources } from "../src/resources/resources.ts";
import { MemoryStore } from "../src/storage/memory.ts";
import { median } from "./support.ts";

/**
 * How many distinct tokens of service accounts one core authenticates per second: signature, claims, times and the live
 * ServiceAccount and Pod of each. Without a cache every token is verified; with the cache of the server it has been before.
 */
const COUNT = 3000;
const ROUNDS = 5;
const ISSUER = "https://kubernetes.default.svc";

const catalog = new Catalog(builtInKinds());
const store = new MemoryStore();
const resources = new Resources({
  store,
  catalog,
  clock: systemClock,
  random: systemRandom,
  keys: new KeySpace("/registry"),
});

async function put(plural: string, kind: string, name: string, rest: JsonObject = {}): Promise<string> {
  const uid = systemRandom.uuid();
  const key = resources.keys.key(storedResource(catalog, "", plural).definition, { namespace: "n", name });
  const object = { kind, apiVersion: "v1", metadata: { name, namespace: "n", uid }, ...rest };
  await store.put(key, Buffer.from(JSON.stringify(object)), 0);
  return uid;
}

/** A Pod of the usual size. */
const POD = {
  spec: { containers: [{ name: "main", image: "registry.example/image:1", env: Array.from({ length: 40 }, entry) }] },
};
function entry(_: unknown, index: number): JsonObject {
  return { name: `VARIABLE_${index}`, value: `value-${index}`.repeat(4) };
}

async function claims(): Promise<JsonObject[]> {
  const now = Math.floor(Date.now() / 1000);
  const all: JsonObject[] = [];
  for (let index = 0; index < COUNT; index += 1) {
    const [name, podName] = [`account-${index}`, `pod-${index}`];
    const uid = await put("serviceaccounts", "ServiceAccount", name);
    const podUid = await put("pods", "Pod", podName, POD);
    all.push({
      aud: [ISSUER],
      exp: now + 3600,
      iat: now,
      iss: ISSUER,
      jti: systemRandom.uuid(),
      "kubernetes.io": {
        namespace: "n",
        node: { name: "node", uid: systemRandom.uuid() },
        pod: { name: podName, uid: podUid },
        serviceaccount: { name, uid },
      },
      nbf: now,
      sub: `system:serviceaccount:n:${name}`,
    });
  }
  return all;
}

/** Per second of processor time, so that others on the same machine do not matter. */
async function perSecond(authenticator: Authenticator, tokens: readonly string[]): Promise<number> {
  const began = process.cpuUsage();
  for (const bearerToken of tokens) {
    const found = await authenticator.authenticate({ bearerToken, headers: {}, audiences: [ISSUER] });
    if (found === undefined) throw new Error("a token was not recognised");
  }
  const { user, system } = process.cpuUsage(began);
  return (tokens.length * 1e6) / (user + system);
}

async function measure(name: string, privateKey: KeyObject, all: readonly JsonObject[]): Promise<void> {
  const key: SigningKey = signingKey(privateKey);
  const tokens = all.map((one) => signToken(one, key));
  const uncached = new AccountTokenAuthenticator({
    keys: [verifyingKey(createPublicKey(privateKey))],
    issuers: [ISSUER],
    audiences: [ISSUER],
    lookup: true,
    clock: systemClock,
    objects: resources,
    label: async () => {},
  });
  const cached = new TokenCache(uncached, { clock: systemClock, successMs: 60_000, failureMs: 0 });
  const figures: { uncached: number[]; cached: number[] } = { uncached: [], cached: [] };
  await perSecond(cached, tokens);
  for (let round = 0; round < ROUNDS; round += 1) {
    figures.uncached.push(await perSecond(uncached, tokens));
    figures.cached.push(await perSecond(cached, tokens));
  }
  const print = (values: number[]) => {
    const sorted = values.sort((a, b) => a - b);
    return `${median(sorted).toFixed(0)} per second (${sorted[0]?.toFixed(0)}–${sorted.at(-1)?.toFixed(0)})`;
  };
  process.stdout.write(`${name}: cache off ${print(figures.uncached)}, from the cache ${print(figures.cached)}\n`);
}

const all = await claims();
await measure("RS256, 2048 bits", generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey, all);
await measure("ES256", generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey, all);
