import type { JsonObject } from "../../src/base/api/object.ts";
import type { Answer } from "../support/client.ts";
import { eventually } from "../support/time.ts";
import { signature, withoutOwn } from "./findings.ts";
import { inLanes, numbersWhile } from "./lanes.ts";
import { type FuzzedPolicy, type FuzzedRequest, KINDS, PolicyMaker } from "./policy-shapes.ts";
import { Random } from "./random.ts";
import { type Difference, differenceOf, printPanics, Twins, unlessPanic } from "./twins.ts";

const ROOT = "/apis/admissionregistration.k8s.io/v1";
/** The real server looks for new policies once a second, and goes through all of them for every request. */
const BATCH = 100;
const REQUESTS = 4;
const LANES = 6;

/** Something that the two servers do not agree about. */
export interface PolicyFinding {
  readonly policy: FuzzedPolicy;
  readonly request: FuzzedRequest | undefined;
  readonly difference: Difference;
  count: number;
}

/** What came of a run. */
export interface PolicyResult {
  policies: number;
  accepted: number;
  requests: number;
  /** Requests that were refused, warned of or changed by a policy, as far as one can see. */
  affected: number;
  readonly findings: PolicyFinding[];
}

type Answers = readonly [theirs: Answer, ours: Answer];

/** Sends random policies, and requests that they judge, to both servers. */
export class PolicyFuzzer {
  readonly #twins: Twins;
  readonly #seed: number;
  readonly result: PolicyResult = { policies: 0, accepted: 0, requests: 0, affected: 0, findings: [] };

  constructor(twins: Twins, seed: number) {
    this.#twins = twins;
    this.#seed = seed;
  }

  /** Stores what the requests of so many policies are about. */
  async prepare(count: number): Promise<void> {
    const post = (path: string, body: JsonObject) => this.#twins.call("POST", path, body);
    await inLanes(
      LANES,
      numbersWhile((number) => number < Math.min(BATCH, count)),
      async (index) => {
        const slot = slotOf(index);
        const random = new Random(index);
        const labels = { slot, kind: index % 2 === 0 ? "even" : "odd" };
        await post("/api/v1/namespaces", { metadata: { name: slot, labels } });
        await post(`/api/v1/namespaces/${slot}/serviceaccounts`, { metadata: { name: "default" } });
        for (const { identity, path, body, isCluster } of KINDS) {
          if (isCluster || identity.apiVersion === "autoscaling/v1") continue;
          await post(path(slot), { ...identity, metadata: { name: "base", labels: { a: "1" } }, ...body(random) });
        }
      },
    );
    for (const name of ["params-a", "params-b"]) {
      const data = { limit: name === "params-a" ? "3" : "0" };
      await post("/api/v1/namespaces/fuzz/configmaps", { metadata: { name, labels: { use: name } }, data });
    }
  }

  /** `first`: the policies before it, which have been judged by another run, are left out. */
  async run(count: number, first = 0): Promise<PolicyResult> {
    const end = first + count;
    for (let from = first; from < end; from += BATCH) await this.#batch(from, Math.min(end, from + BATCH));
    return this.result;
  }

  async #batch(from: number, to: number): Promise<void> {
    const accepted: { readonly made: FuzzedPolicy; readonly random: Random; readonly slot: string }[] = [];
    await inLanes(
      LANES,
      numbersWhile((number) => number < to - from),
      async (offset) => {
        const index = from + offset;
        const random = new Random(Math.imul(this.#seed, 0x9e3779b1) + index * 7919);
        const slot = slotOf(offset);
        const made = new PolicyMaker(random).policy(`p${index}`, slot);
        this.result.policies += 1;
        if (await this.#store(made)) accepted.push({ made, random, slot });
      },
    );
    this.result.accepted += accepted.length;
    await this.#untilInForce(from);
    await inLanes(LANES, accepted, async ({ made, random, slot }) => {
      const maker = new PolicyMaker(random);
      for (let count = 0; count < REQUESTS; count++) await this.#ask(made, maker.request(slot));
    });
    for (const plural of ["validatingadmissionpolicies", "mutatingadmissionpolicies"]) {
      await this.#twins.call("DELETE", `${ROOT}/${plural}bindings`.replace("iesbindings", "ybindings"));
      await this.#twins.call("DELETE", `${ROOT}/${plural}`);
    }
  }

  async #store(made: FuzzedPolicy): Promise<boolean> {
    const kind = made.isMutating ? "mutatingadmissionpolic" : "validatingadmissionpolic";
    const stored = await this.#twins.call("POST", `${ROOT}/${kind}ies`, made.policy);
    this.#compare(made, undefined, stored.map(withoutOwn) as [Answer, Answer]);
    if (stored.some(({ status }) => status !== 201)) return false;
    const bound = await this.#twins.call("POST", `${ROOT}/${kind}ybindings`, made.binding);
    this.#compare(made, undefined, bound.map(withoutOwn) as [Answer, Answer]);
    return bound.every(({ status }) => status === 201);
  }

  /** Waits until both know a policy of each kind that was stored after all others. */
  async #untilInForce(batch: number): Promise<void> {
    const name = `probe${batch}`;
    const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
    const common = {
      matchConstraints: {
        resourceRules: [rule],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "fuzz" } },
      },
    };
    const metadata = { name };
    const applyConfiguration = { expression: "Object{data: {'probed': 'yes'}}" };
    const mutations = [{ patchType: "ApplyConfiguration", applyConfiguration }];
    const probes: readonly (readonly [string, JsonObject, JsonObject])[] = [
      [
        "validating",
        { validations: [{ expression: "object.data.wanted == 'yes'", message: "probe" }] },
        { validationActions: ["Warn"] },
      ],
      ["mutating", { mutations, reinvocationPolicy: "Never" }, {}],
    ];
    for (const [kind, spec, binding] of probes) {
      await this.#twins.call("POST", `${ROOT}/${kind}admissionpolicies`, { metadata, spec: { ...common, ...spec } });
      const bound = { metadata, spec: { policyName: name, ...binding } };
      await this.#twins.call("POST", `${ROOT}/${kind}admissionpolicybindings`, bound);
    }
    const body = { metadata: { name: "probe" }, data: {} };
    await eventually(
      async () => {
        const answers = await this.#twins.call("POST", "/api/v1/namespaces/fuzz/configmaps?dryRun=All", body);
        return answers.every(
          ({ headers, body }) => String(headers.warning).includes(name) && body.data?.probed === "yes",
        );
      },
      { withinMs: 30_000, everyMs: 100 },
    );
  }

  async #ask(made: FuzzedPolicy, request: FuzzedRequest): Promise<void> {
    const { method, path, body, type } = request;
    const answers = await unlessPanic(this.#twins.call(method, path, body, type));
    if (!answers) return;
    this.result.requests += 1;
    const [theirs] = answers;
    if (theirs.status >= 400 || theirs.headers.warning !== undefined || made.isMutating) this.result.affected += 1;
    this.#compare(made, request, answers.map(withoutOwn) as [Answer, Answer]);
  }

  #compare(policy: FuzzedPolicy, request: FuzzedRequest | undefined, answers: Answers): void {
    const difference = differenceOf([generic(answers[0]), generic(answers[1])], request?.method ?? "policy");
    if (!difference) return;
    const known = this.result.findings.find((finding) => signature(finding.difference) === signature(difference));
    if (known) known.count += 1;
    else this.result.findings.push({ policy, request, difference, count: 1 });
  }
}

/** The namespace in which one policy of every batch is in force. */
const slotOf = (index: number) => `slot${index}`;

/** Each server makes up names and versions of its own. */
function generic({ body, headers, ...rest }: Answer): Answer {
  const shown = Array.isArray(body?.items) ? { ...body, items: body.items.length, metadata: {} } : (body ?? null);
  const unnamed = (text: string) => text.replaceAll(/new-[a-z0-9]{5}\b/g, "new-00000");
  const warning = unnamed(String(headers.warning ?? ""));
  return { ...rest, headers: { ...headers, warning }, body: JSON.parse(unnamed(JSON.stringify(shown))) };
}

/** A run in words. */
export function printPolicyResult(
  seed: number,
  { policies, accepted, requests, affected, findings }: PolicyResult,
): string {
  const differing = findings.reduce((sum, { count }) => sum + count, 0);
  const lines = [
    `seed ${seed}: ${policies} policies (${accepted} accepted), ${requests} requests (${affected} affected), ${differing} differences`,
  ];
  for (const { policy, request, difference, count } of findings) {
    lines.push(`  ${count}× ${request?.method ?? "policy"} ${request?.path ?? ""}: ${difference.path}`);
    lines.push(`    theirs ${JSON.stringify(difference.theirs)}`, `    ours   ${JSON.stringify(difference.ours)}`);
    lines.push(
      `    ${JSON.stringify(request?.body)}`,
      `    ${JSON.stringify(policy.policy)}`,
      `    ${JSON.stringify(policy.binding)}`,
    );
  }
  return lines.join("\n");
}

if (import.meta.main) {
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const twins = await Twins.start();
  try {
    const fuzzer = new PolicyFuzzer(twins, seed);
    const count = Number(process.env.FUZZ_COUNT ?? 1_000);
    await fuzzer.prepare(count);
    const result = await fuzzer.run(count, Number(process.env.FUZZ_FROM ?? 0));
    process.stdout.write(`${[printPolicyResult(seed, result), ...printPanics(twins.panics)].join("\n")}\n`);
    process.exitCode = result.findings.length > 0 ? 1 : 0;
  } finally {
    await twins.stop();
  }
}
