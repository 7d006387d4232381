import type { GateOf } from '../../deliveries/index.js'
import type { EmailDeps } from '../../emails/index.js'
import type { SentCopy } from '../../outbound/index.js'
import type { Switches } from '../../tracking/index.js'
import type { RenderedPages } from '../templates/rendered.js'

/** What the pages about mails need: what accepts mails, and what the threads know about waiting ones. */
export interface EmailPageDeps extends EmailDeps {
  /** How mail is tracked where neither domain nor account says so; undefined: nobody outside could load a pixel. */
  tracking: Switches | undefined
  gateOf: GateOf
  /** A recipient's copy as it leaves. Throws when it cannot be made any more. */
  sentCopy: (copy: { id: number; emailId: string; recipient: string }) => Promise<SentCopy>
}

/** The form of a new mail also shows the mail as a template makes it. */
export interface NewMailDeps extends EmailPageDeps {
  rendered: RenderedPages
}
