import { ApiError } from "../../api/api-error.ts";
import type { Authorizer } from "../../api/attributes.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Resources } from "../../resources/resources.ts";
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

/** What policies need to judge requests. */
export interface PolicyContext {
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly observer: PolicyObserver;
}

/** The policies that a request concerns, by their rules. */
export function concerned<Evaluator>(
  source: PolicySource<Evaluator>,
  request: AdmissionRequest,
): readonly Match<PolicyHook<Evaluator>>[] {
  const found = source.find(request);
  if (found.length === 0 || isReview(request)) return [];
  return isPolicyConfiguration(request) ? found.filter(({ item }) => item.isFixed) : found;
}

/** Why a policy or binding cannot be used, if an error says that. Others are thrown again. */
export function configurationError(error: unknown): string {
  if (error instanceof ConfigurationError || error instanceof ApiError) return error.message;
  throw error;
}

/** One request before policies: what has to be looked up for it, at most once. */
export class PolicyRun {
  readonly request: AdmissionRequest;
  readonly answers: AuthorizerAnswers;
  readonly #resources: Resources;
  readonly #versions = new Map<string, VersionedObjects>();
  readonly #inputs = new Map<MatchedResource, PolicyInputs>();
  #namespace: { readonly found: KubeObject | undefined } | undefined;

  constructor(request: AdmissionRequest, { resources, authorizer }: PolicyContext) {
    this.request = request;
    this.#resources = resources;
    this.answers = new AuthorizerAnswers(authorizer, request.user);
  }

  /** Whether selectors of a policy or binding select the request. */
  async isSelected(selectors: Selectors): Promise<boolean> {
    return selectors.areEmpty || selectors.match(this.request, this.request, this.#resources.access);
  }

  /** What a policy is evaluated with, one after the other. Throws ConfigurationError. */
  async paramsOf(
    hook: Pick<PolicyHook<unknown>, "paramResource">,
    { spec: { paramRef } }: PolicyBinding,
  ): Promise<readonly (KubeObject | undefined)[]> {
    const resource = hook.paramResource();
    if (!resource || !paramRef) return NO_PARAMS;
    return collectParams(this.#resources, resource, paramRef, attributeNamespace(this.request));
  }

  /** Both objects in the version that was matched. Throws ApiError. */
  async objectsIn(matched: MatchedResource): Promise<VersionedObjects> {
    const apiVersion = matchedApiVersion(matched);
    const known = this.#versions.get(apiVersion);
    if (known) return known;
    const made = await inVersion(this.request, apiVersion);
    this.#versions.set(apiVersion, made);
    return made;
  }

  /** The object has become another one. */
  changed(): void {
    this.#versions.clear();
    this.#inputs.clear();
  }

  /** What expressions without params see, if that has been looked up already. */
  knownInputs(matched: MatchedResource): PolicyInputs | undefined {
    return this.#inputs.get(matched);
  }

  /** What expressions see. Throws ApiError. */
  async inputs(matched: MatchedResource, params: KubeObject | undefined): Promise<PolicyInputs> {
    const objects = await this.objectsIn(matched);
    this.#namespace ??= { found: await namespaceOf(this.request, this.#resources.access) };
    const { request, answers } = this;
    const inputs = policyInputs({ request, matched, objects, namespace: this.#namespace.found, params, answers });
    if (!params) this.#inputs.set(matched, inputs);
    return inputs;
  }
}
