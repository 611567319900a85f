import { conflict, invalid, notFound } from "../../../base/api/api-error.ts";
import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { TokenIssuer } from "../../../base/api/token-issuer.ts";
import type { ActionCall, CreateAction } from "../../../resources/model/actions.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { type BoundObjects, bindObject } from "./token-binding.ts";
import { type CompleteSpec, type TokenRequestSpec, validateTokenRequest } from "./token-validation.ts";

interface TokenRequest extends KubeObject {
  spec?: TokenRequestSpec;
}

const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };
/** Compat: `WarnOnlyBoundTokenExpirationSeconds`, the lifetime that the ServiceAccount plugin writes into volumes. */
const WARN_ONLY_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 86_400;

/**
 * serviceaccounts/token: signs a token for a service account, bound to a Pod, Secret or Node if requested. Nothing is
 * stored, and a dry run gets a token too.
 */
export function tokenRequest(issuer: TokenIssuer): CreateAction {
  return async (call) => {
    const { access, key, warn } = call;
    const request = call.body as TokenRequest;
    const { name = "" } = request.metadata;
    if (name !== "" && name !== key.name) {
      throw refuse(key.name, [invalidField("metadata.name", name, "must match the service account name if specified")]);
    }
    const account = await findAccount(call);
    const spec = completeSpec(request.spec ?? {}, issuer);
    // Read before the token is created, so that `status.expirationTimestamp` is never after the token's `exp`.
    const nowMs = access.clock.now();
    const errors = validateTokenRequest(spec);
    if (errors.length > 0) throw refuse("", errors);
    const bound = spec.boundObjectRef ? await bindObject(call, spec.boundObjectRef) : {};
    shorten(spec, issuer.maxExpirationSeconds, warn);
    const jti = access.random.uuid();
    call.annotate?.("authentication.kubernetes.io/issued-credential-id", `JTI=${jti}`);
    const token = await issuer.sign(claimsOf(account, { spec, bound, issuer, nowMs, jti }));
    const { namespace, uid } = account.metadata;
    const { kind, apiVersion, metadata } = request;
    return {
      kind,
      apiVersion,
      metadata: { ...metadata, name: key.name, namespace, uid, creationTimestamp: printTime(nowMs) },
      spec,
      status: { token, expirationTimestamp: printTime(nowMs + spec.expirationSeconds * 1000) },
    };
  };
}

const refuse = (name: string, errors: readonly FieldError[]) => invalid(KIND, name, errors);

/** The service account of the path. Throws Conflict if the request has another uid. */
async function findAccount({ access, key, body }: ActionCall): Promise<KubeObject> {
  const account = await access.find("", "serviceaccounts", key, "newest");
  if (!account) throw notFound({ group: "", resource: "serviceaccounts" }, key.name);
  const { uid = "" } = body.metadata;
  if (uid !== "" && uid !== account.metadata.uid) {
    throw conflict(
      { group: KIND.group, resource: KIND.kind },
      key.name,
      `the UID in the token request (${uid}) does not match the UID of the service account (${account.metadata.uid})`,
    );
  }
  return account;
}

function completeSpec({ audiences, boundObjectRef, ...rest }: TokenRequestSpec, issuer: TokenIssuer): CompleteSpec {
  return {
    ...rest,
    audiences: audiences && audiences.length > 0 ? audiences : [...issuer.audiences],
    boundObjectRef: boundObjectRef ?? null,
    expirationSeconds: rest.expirationSeconds ?? 0,
  };
}

function shorten(spec: CompleteSpec, maxSeconds: number, warn: ActionCall["warn"]): void {
  const { expirationSeconds } = spec;
  if (maxSeconds <= 0 || expirationSeconds <= maxSeconds) return;
  warn(`requested expiration of ${expirationSeconds} seconds shortened to ${maxSeconds} seconds`);
  spec.expirationSeconds = maxSeconds;
}

interface Facts {
  readonly spec: CompleteSpec;
  readonly bound: BoundObjects;
  readonly issuer: TokenIssuer;
  readonly nowMs: number;
  readonly jti: string;
}

/** Compat: the claims, and which of them are omitted, are those of upstream's `Claims`. */
function claimsOf({ metadata }: KubeObject, { spec, bound, issuer, nowMs, jti }: Facts): JsonObject {
  const now = Math.floor(nowMs / 1000);
  const { expirationSeconds, audiences } = spec;
  // Compat: a pod's token requested with 3607 seconds is valid for a year, and `warnafter` shows which clients rely on
  // it.
  const isExtended =
    issuer.extendsExpiration &&
    bound.pod !== undefined &&
    expirationSeconds === WARN_ONLY_SECONDS &&
    audiences.every((audience) => issuer.audiences.includes(audience));
  const { namespace = "", name = "", uid = "" } = metadata;
  return {
    aud: audiences,
    exp: now + (isExtended ? EXTENDED_SECONDS : expirationSeconds),
    iat: now,
    iss: issuer.issuer,
    jti,
    "kubernetes.io": {
      namespace,
      ...bound,
      serviceaccount: { name, uid },
      ...(isExtended ? { warnafter: now + expirationSeconds } : {}),
    },
    nbf: now,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
}
