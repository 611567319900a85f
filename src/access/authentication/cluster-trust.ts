/** The CAs and request headers this server trusts. Extension servers need them to authenticate proxied requests. */
export interface ClusterAuthentication {
  /** CA of client certificates, as PEM. */
  readonly clientCa?: string;
  /** Front-proxy CA and header names. */
  readonly requestHeader?: {
    /** In PEM. */
    readonly ca: string;
    readonly usernameHeaders: readonly string[];
    readonly uidHeaders: readonly string[];
    readonly groupHeaders: readonly string[];
    readonly extraHeaderPrefixes: readonly string[];
    readonly allowedNames: readonly string[];
  };
}
