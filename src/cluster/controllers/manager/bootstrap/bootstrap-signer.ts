import { createHmac } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../../../base/api/object.ts";
import type { Secret } from "../../../../kinds/types/secret.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { isBootstrapToken, type SigningToken, signingToken, TOKEN_NAMESPACE } from "./bootstrap-token.ts";

const CONFIG_MAP = "kube-public/cluster-info";
const SIGNED = "kubeconfig";
const PREFIX = "jws-kubeconfig-";

interface ConfigMap extends KubeObject {
  readonly data?: Record<string, string>;
}

/**
 * bootstrap-signer-controller: signs the kubeconfig in the ConfigMap kube-public/cluster-info with every bootstrap token that
 * is meant for signing, so that joining nodes can verify it.
 */
export function bootstrapSigner({ resources, client, informers, report }: ManagerContext): Controller {
  const { clock } = resources;
  const { informer: configMaps } = informers.of<ConfigMap>("", "configmaps");
  const { informer: secrets, byNamespace } = informers.of<Secret>("", "secrets");

  const tokens = (): SigningToken[] =>
    [...byNamespace.get(TOKEN_NAMESPACE)].filter(isBootstrapToken).flatMap((secret) => {
      return signingToken(secret, clock.now()) ?? [];
    });

  return loop({
    name: "bootstrap-signer-controller",
    workers: 1,
    clock,
    report,
    sources: [
      source(configMaps, (queue) => (_, after) => {
        if (after && keyOf(after) === CONFIG_MAP) queue.add(CONFIG_MAP);
      }),
      source(secrets, (queue) => (before, after) => {
        const secret = after ?? before;
        if (secret && isBootstrapToken(secret)) queue.add(CONFIG_MAP);
      }),
    ],
    async sync() {
      const configMap = configMaps.get(CONFIG_MAP);
      const data = configMap?.data ?? {};
      const content = data[SIGNED];
      if (!configMap || content === undefined) return;
      const others = Object.entries(data).filter(([member]) => !member.startsWith(PREFIX));
      const signatures = tokens().map((token) => [`${PREFIX}${token.id}`, detachedSignature(content, token)]);
      const signed = Object.fromEntries([...others, ...signatures]);
      if (isDeepStrictEqual(signed, { ...data })) return;
      await client.update(configMaps.resource, { ...configMap, data: signed }).catch(unlessCode(404, 409));
    },
  });
}

/** A JSON Web Signature (HS256) without its content (RFC 7515, appendix F). */
function detachedSignature(content: string, { id, secret }: SigningToken): string {
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  const header = encode(JSON.stringify({ alg: "HS256", kid: id }));
  const signature = createHmac("sha256", secret)
    .update(`${header}.${encode(content)}`)
    .digest("base64url");
  return `${header}..${signature}`;
}
