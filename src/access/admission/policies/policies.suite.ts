import type { TestContext } from "node:test";
import type { Authorizer } from "../../../base/api/attributes.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { PolicyBindingSpec, PolicySpec } from "../../../kinds/types/admission-registration.ts";
import type { Resources } from "../../../resources/resources.ts";
import { alwaysAllow } from "../../authorization/always.ts";
import { namespace, type Verdict, World, type Write } from "../admission.suite.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import type { PolicySource } from "./policy-source.ts";

const GROUP = "admissionregistration.k8s.io";

/** Rules that match config maps. */
export const CONFIG_MAPS: PolicySpec["matchConstraints"] = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: ["configmaps"], scope: "*" }],
  namespaceSelector: {},
  objectSelector: {},
  matchPolicy: "Equivalent",
};

/** The kinds of policies under test, and their plugin. */
export interface PolicyPlugin<Evaluator> {
  readonly kind: "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy";
  source(resources: Resources): PolicySource<Evaluator>;
  plugin(source: PolicySource<Evaluator>, world: World, authorizer: Authorizer): AdmissionPlugin;
}

/** Stored policies, and requests that they are evaluated on. */
export class PolicyWorld<Evaluator> {
  readonly world = new World();
  readonly #made: PolicyPlugin<Evaluator>;
  readonly #source: PolicySource<Evaluator>;
  readonly #signal: AbortSignal;
  readonly plugin: AdmissionPlugin;

  constructor(t: TestContext, made: PolicyPlugin<Evaluator>, authorizer: Authorizer = alwaysAllow) {
    this.#made = made;
    this.#signal = t.signal;
    this.#source = made.source(this.world.resources);
    this.plugin = made.plugin(this.#source, this.world, authorizer);
    const stopping = new AbortController();
    const running = this.#source.run(stopping.signal);
    t.after(async () => {
      stopping.abort();
      await running.catch(() => {});
      await this.world.resources.store.close();
    });
  }

  get #plural(): string {
    return `${this.#made.kind.toLowerCase().slice(0, -1)}ies`;
  }

  /** Stores a policy with one binding of the same name. */
  async policy(name: string, spec: PolicySpec, binding: PolicyBindingSpec = {}): Promise<void> {
    const { kind } = this.#made;
    const common = { failurePolicy: "Fail", matchConstraints: CONFIG_MAPS };
    const apiVersion = `${GROUP}/v1`;
    const policy = { apiVersion, kind, metadata: { name }, spec: { ...common, ...spec } } as KubeObject;
    await this.world.given(this.#plural, policy, GROUP);
    const bound = { policyName: name, validationActions: ["Deny"], ...binding };
    await this.world.given(
      `${kind.toLowerCase()}bindings`,
      { apiVersion, kind: `${kind}Binding`, metadata: { name }, spec: bound } as KubeObject,
      GROUP,
    );
  }

  /** Writes a config map in the namespace ns, which has the label env=test, and returns the result. */
  async judge(object: object = {}, more: Partial<Write> = {}): Promise<Verdict> {
    await this.world.given("namespaces", namespace("ns", { env: "test" }));
    await this.#source.loaded(this.#signal);
    const metadata = { name: "c", namespace: "ns" };
    const made = {
      apiVersion: "v1",
      kind: "ConfigMap",
      ...object,
      metadata: { ...metadata, ...("metadata" in object ? (object.metadata as object) : {}) },
    };
    return this.world.judge(this.plugin, { plural: "configmaps", object: made as KubeObject, ...more });
  }
}
