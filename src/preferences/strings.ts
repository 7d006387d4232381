/** Everything that recipients read, in one language. */
export interface Strings {
  /** BCP 47, for the page's `lang`. */
  language: string
  footerReason(account: string, topic: string | undefined): string
  footerLink: string
  /** In place of a name that is no longer known. */
  someTopic: string
  ask: PageStrings
  done: PageStrings
  back: PageStrings
  unknown: { title: string; lines: string[] }
}

/** A page about who leaves what; `topic` is undefined for all marketing mail. */
interface PageStrings {
  title: string
  lines(names: { account: string; address: string; topic: string | undefined }): string[]
  button: string
}

export const english: Strings = {
  language: 'en',
  footerReason: (account, topic) =>
    topic === undefined
      ? `You receive this email from ${account}.`
      : `You receive this email about ${topic} from ${account}.`,
  footerLink: 'Unsubscribe',
  someTopic: 'this topic',
  ask: {
    title: 'Unsubscribe?',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${account} will send no more marketing emails to ${address}.`
        : `${account} will send no more emails about ${topic} to ${address}.`,
      'Emails about your own orders or account are not affected.',
    ],
    button: 'Unsubscribe',
  },
  done: {
    title: 'You are unsubscribed',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} gets no more marketing emails from ${account}.`
        : `${address} gets no more emails about ${topic} from ${account}.`,
      'An email that is already on its way may still arrive.',
    ],
    button: 'Undo: subscribe again',
  },
  back: {
    title: 'You are subscribed again',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} gets marketing emails from ${account} again.`
        : `${address} gets emails about ${topic} from ${account} again.`,
    ],
    button: 'Unsubscribe',
  },
  unknown: {
    title: 'This link does not work',
    lines: [
      'Perhaps it was cut off: open it from the email again, or copy all of it.',
      'You can also answer the email and ask its sender to take you off.',
    ],
  },
}
