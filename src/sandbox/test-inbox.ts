import { openSandboxReceiver, type SandboxReceiver, type SandboxReceiverDeps } from './receiver.js'

/** The accounts' test inboxes, where all mail of test keys goes. */
export interface TestInbox {
  /** The address of its server, which listens on loopback from the first mail on. */
  address(): Promise<{ host: string; port: number }>
  close(): Promise<void>
}

/** What the test inbox needs. */
export type TestInboxDeps = Omit<SandboxReceiverDeps, 'config' | 'ownerOf'> &
  Required<Pick<SandboxReceiverDeps, 'ownerOf'>> & { keepMessages: number }

/** The server behind the test inboxes; it opens with the first mail that goes there. */
export function makeTestInbox({ keepMessages, ...deps }: TestInboxDeps): TestInbox {
  let receiver: Promise<SandboxReceiver> | undefined
  return {
    async address() {
      receiver ??= openSandboxReceiver({ ...deps, config: { port: 0, keepMessages } })
      // If the server could not be opened, the next mail tries again.
      receiver.catch(() => {
        receiver = undefined
      })
      return { host: '127.0.0.1', port: (await receiver).port }
    },
    async close() {
      await (await receiver)?.close()
    },
  }
}
