/**
 * The built-in inbox for trying Posthorn out: an SMTP receiver on loopback that takes every mail for every recipient,
 * relays nothing, and shows what a real receiver would have made of it. In every mode the same receiver keeps the
 * mail of test keys, each in the inbox of its account, which nobody else sees. Must hold: the final dot is answered
 * after the commit; checking a mail delays no other mail; memory stays bounded however many mails arrive at once.
 * smtp-server and mailauth are loaded when the receiver opens: a process that only reads never loads them.
 */
export type { MessageContent } from '../mime/index.js'
export { clearedAnswer, testMailAnswer, testMailsAnswer } from './answers.js'
export type { Inbox } from './inbox.js'
export { deleteUpTo } from './keep.js'
export { keptNumber } from './kept-reply.js'
export { linksIn, linksInText } from './links.js'
export {
  clearMessages,
  countMessages,
  findMessage,
  findNewest,
  listMessages,
  type MessageFilter,
  newestId,
  rawMessage,
  type SandboxMessage,
  type SandboxSummary,
} from './messages.js'
export { publishedResolver } from './published-resolver.js'
export { openSandboxReceiver, type SandboxReceiver, type SandboxReceiverDeps } from './receiver.js'
export { makeTestInbox, type TestInbox } from './test-inbox.js'
