import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isObject, type JsonObject } from "../../src/base/api/object.ts";
import { type Difference, differenceOf, Twins } from "../fuzz/twins.ts";
import type { Answer } from "../support/client.ts";

/** The namespace of all objects. */
export const NAMESPACE = "fuzz";
const CORE = "/api/v1";
const REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";

/** The name of an object, and its uid on each of the two servers. */
export interface Both {
  readonly name: string;
  readonly uids: readonly [theirs: string, ours: string];
}

/** kube-apiserver and Binnacle with the same keys for tokens of service accounts. */
export class TokenTwins {
  readonly twins: Twins;
  readonly rsa: KeyObject;
  readonly elliptic: KeyObject;
  readonly #folder: string;

  private constructor(twins: Twins, keys: { rsa: KeyObject; elliptic: KeyObject }, folder: string) {
    this.twins = twins;
    this.rsa = keys.rsa;
    this.elliptic = keys.elliptic;
    this.#folder = folder;
  }

  static async start(flags: readonly string[] = []): Promise<TokenTwins> {
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-tokens-"));
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const elliptic = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey;
    const [signing, all] = [path.join(folder, "signing.pem"), path.join(folder, "all.pem")];
    await writeFile(signing, rsa.export({ type: "pkcs1", format: "pem" }));
    await writeFile(all, [rsa, elliptic].map(printKey).join("remark\n"));
    const keyFlags = [`--service-account-signing-key-file=${signing}`, `--service-account-key-file=${all}`];
    const twins = await Twins.start([...keyFlags, ...flags]);
    return new TokenTwins(twins, { rsa, elliptic }, folder);
  }

  async stop(): Promise<void> {
    await this.twins.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Creates the same object on both. */
  async create(plural: string, object: JsonObject): Promise<Both> {
    const at = plural === "nodes" ? `${CORE}/nodes` : `${CORE}/namespaces/${NAMESPACE}/${plural}`;
    const answers = await this.twins.call("POST", at, object);
    const [theirs, ours] = answers.map(({ status, body }) => {
      if (status !== 201) throw new Error(`${at}: ${status} ${body.message}`);
      return String(body.metadata.uid);
    }) as [string, string];
    return { name: (object.metadata as JsonObject).name as string, uids: [theirs, ours] };
  }

  async remove(plural: string, name: string): Promise<void> {
    const at = plural === "nodes" ? `${CORE}/nodes` : `${CORE}/namespaces/${NAMESPACE}/${plural}`;
    await this.twins.call("DELETE", `${at}/${name}?gracePeriodSeconds=0`);
  }

  /** Differences of the responses to a TokenRequest; tokens are compared by their headers and claims. */
  async request(account: string, body: unknown, query = ""): Promise<{ difference?: Difference; tokens: string[] }> {
    const at = `${CORE}/namespaces/${NAMESPACE}/serviceaccounts/${account}/token${query}`;
    const answers = await this.twins.call("POST", at, body);
    const tokens = answers.map(({ body: answer }) => String(answer.status?.token ?? ""));
    const read = answers.map(withClaims) as [Answer, Answer];
    return { difference: differenceOf(read, JSON.stringify(body)), tokens };
  }

  /** Differences of the responses to a TokenReview, and the responses. */
  async review(tokens: readonly [string, string], audiences?: readonly string[]) {
    const bodies = tokens.map((token) => ({
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token, audiences },
    })) as [unknown, unknown] as [JsonObject, JsonObject];
    const answers = (await this.twins.callEach("POST", REVIEWS, bodies)).map(withoutSpec) as [Answer, Answer];
    return { difference: differenceOf(answers, "review"), answers };
  }
}

const printKey = (key: KeyObject) =>
  key.export({ type: key.asymmetricKeyType === "rsa" ? "pkcs1" : "sec1", format: "pem" }).toString();

const decode = (part = ""): JsonObject => JSON.parse(Buffer.from(part, "base64url").toString());

/** The response with header and claims instead of the token; times are relative to when it was issued. */
function withClaims(answer: Answer): Answer {
  const token = answer.body?.status?.token;
  if (typeof token !== "string") return answer;
  const [head, payload] = token.split(".");
  const claims = decode(payload);
  const issued = Number(claims.iat);
  const own = claims["kubernetes.io"];
  for (const times of [claims, isObject(own) ? own : {}]) {
    for (const name of ["exp", "nbf", "warnafter", "iat"]) {
      if (typeof times[name] === "number") times[name] = (times[name] as number) - issued;
    }
  }
  const lives =
    (Date.parse(answer.body.status.expirationTimestamp) - Date.parse(answer.body.metadata.creationTimestamp)) / 1000;
  const status = {
    lives,
    order: Buffer.from(payload ?? "", "base64url")
      .toString()
      .replace(/:[^,{}]*/g, ""),
    head: decode(head),
    claims,
  };
  return { ...answer, body: { ...answer.body, status } };
}

function withoutSpec(answer: Answer): Answer {
  const { spec: _, ...body } = answer.body;
  return { ...answer, body };
}
