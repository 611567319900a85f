import { ApiError, timeout } from "../../../base/api/api-error.ts";
import type { Authorizer } from "../../../base/api/attributes.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { type Pause, pacer } from "../../../resources/pace.ts";
import type { Resources } from "../../../resources/resources.ts";
import { AuthorizerAnswers } from "../expressions/authorizer-answers.ts";
import { namespaceOf as attributeNamespace, matchedApiVersion } from "../expressions/request-variable.ts";
import { isPolicyConfiguration, isReview } from "../matching/exempt.ts";
import type { Match, MatchedResource } from "../matching/match-index.ts";
import type { Selectors } from "../matching/selectors.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { inVersion, type VersionedObjects } from "../versioned.ts";
import type { PolicyInputs } from "./evaluation.ts";
import { namespaceOf, policyInputs } from "./inputs.ts";
import type { PolicyObserver } from "./observer.ts";
import { ConfigurationError, collectParams, NO_PARAMS } from "./params.ts";
import type { PolicyBinding, PolicyHook, PolicySource } from "./policy-source.ts";

/** What policies need to evaluate requests. */
export interface PolicyContext {
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly observer: PolicyObserver;
}

/** The policies whose rules match a request, without those that do not apply to it. */
export function concerned<Evaluator>(
  source: PolicySource<Evaluator>,
  request: AdmissionRequest,
): readonly Match<PolicyHook<Evaluator>>[] {
  const found = source.find(request);
  if (found.length === 0 || isReview(request)) return [];
  return isPolicyConfiguration(request) ? found.filter(({ item }) => item.isFixed) : found;
}

/** The message of a configuration error. Other errors are thrown again. */
export function configurationError(error: unknown): string {
  if (error instanceof ConfigurationError || error instanceof ApiError) return error.message;
  throw error;
}

/** The evaluation of policies on one request. Caches what is looked up for it. */
export class PolicyRun {
  readonly request: AdmissionRequest;
  readonly answers: AuthorizerAnswers;
  readonly #resources: Resources;
  readonly #versions = new Map<string, VersionedObjects>();
  readonly #inputs = new Map<MatchedResource, PolicyInputs>();
  #namespace: { readonly found: KubeObject | undefined } | undefined;
  readonly #pause = pacer();

  /**
   * Call it between two evaluations: a selector can match thousands of params. Lets other requests have their turn. Throws
   * 504 if the client no longer waits.
   */
  readonly pause: Pause = async () => {
    await this.#pause();
    if (this.request.signal?.aborted) throw timeout("request did not complete within requested timeout");
  };

  constructor(request: AdmissionRequest, { resources, authorizer }: PolicyContext) {
    this.request = request;
    this.#resources = resources;
    this.answers = new AuthorizerAnswers(authorizer, request.user);
  }

  /** Whether the selectors of a policy or binding match the request. */
  async isSelected(selectors: Selectors): Promise<boolean> {
    return selectors.areEmpty || selectors.match(this.request, this.request, this.#resources.access);
  }

  /** The params of a binding; the policy is evaluated once for each. Throws ConfigurationError. */
  async paramsOf(
    hook: Pick<PolicyHook<unknown>, "paramResource">,
    { spec: { paramRef } }: PolicyBinding,
  ): Promise<readonly (KubeObject | undefined)[]> {
    const resource = hook.paramResource();
    if (!resource || !paramRef) return NO_PARAMS;
    return collectParams(this.#resources, resource, paramRef, attributeNamespace(this.request), this.pause);
  }

  /** Both objects in the matched version. Throws ApiError. */
  async objectsIn(matched: MatchedResource): Promise<VersionedObjects> {
    const apiVersion = matchedApiVersion(matched);
    const known = this.#versions.get(apiVersion);
    if (known) return known;
    const made = await inVersion(this.request, apiVersion);
    this.#versions.set(apiVersion, made);
    return made;
  }

  /** Call it when the object has been replaced. */
  changed(): void {
    this.#versions.clear();
    this.#inputs.clear();
  }

  /** The cached inputs of expressions without params. Undefined if there are none yet. */
  knownInputs(matched: MatchedResource): PolicyInputs | undefined {
    return this.#inputs.get(matched);
  }

  /** The inputs of expressions. Throws ApiError. */
  async inputs(matched: MatchedResource, params: KubeObject | undefined): Promise<PolicyInputs> {
    const objects = await this.objectsIn(matched);
    this.#namespace ??= { found: await namespaceOf(this.request, this.#resources.access) };
    const { request, answers } = this;
    const inputs = policyInputs({ request, matched, objects, namespace: this.#namespace.found, params, answers });
    if (!params) this.#inputs.set(matched, inputs);
    return inputs;
  }
}
