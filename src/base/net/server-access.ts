/** Address and credentials of a server, as the current context of a kubeconfig states them. */
export interface ServerAccess {
  readonly server: URL;
  /** The server's CA certificates in PEM. Omitted: those of the system. */
  readonly authority?: string;
  readonly skipsVerification: boolean;
  /** The name in the server's certificate, if it differs from that of the URL. */
  readonly serverName?: string;
  readonly certificate?: string;
  readonly key?: string;
  /** The value of the Authorization header. */
  authorization(): Promise<string | undefined>;
}

/** The credentials of a kubeconfig user. */
export type UserAccess = Pick<ServerAccess, "certificate" | "key" | "authorization">;
