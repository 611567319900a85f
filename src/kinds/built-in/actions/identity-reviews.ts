import { badRequest } from "../../../base/api/api-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import type { ActionCall } from "../../../resources/model/actions.ts";
import { printTime } from "../../../resources/write/metadata.ts";

interface TokenReview extends KubeObject {
  spec?: { token?: string; audiences?: string[] };
}

/** UserInfo in the form of reviews; empty fields are omitted. */
export function printUser({ name, uid = "", groups, extra = {} }: UserInfo): JsonObject {
  const values = Object.entries(extra).map(([key, list]): [string, string[]] => [key, [...list]]);
  return {
    ...(name === "" ? {} : { username: name }),
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(values.length === 0 ? {} : { extra: Object.fromEntries(values) }),
  };
}

/** SelfSubjectReview: returns the caller's UserInfo. Other fields of the request are dropped. */
export async function selfSubjectReview({ access, body, user }: ActionCall): Promise<KubeObject> {
  const { kind, apiVersion } = body;
  const metadata = { creationTimestamp: printTime(access.clock.now()) };
  return { kind, apiVersion, metadata, status: { userInfo: printUser(user) } };
}

/** TokenReview: returns the user that a token authenticates. */
export async function tokenReview({ body, identities }: ActionCall): Promise<KubeObject> {
  const { token = "", audiences = [] } = (body as TokenReview).spec ?? {};
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const verdict = await identities.authenticateToken(token, audiences);
  const { user, error = "" } = verdict;
  // Compat: the `status` of a sent TokenReview is kept where there is no result.
  const { authenticated: _, ...sent } = isObject(body.status) ? body.status : {};
  const result = user
    ? { authenticated: true, user: printUser(user), audiences: [...verdict.audiences] }
    : { user: sent.user ?? {}, ...(error === "" ? {} : { error }) };
  return { ...body, status: { ...sent, ...result } };
}
