import { readFileSync } from 'node:fs'
import { packageFile } from '../config/index.js'
import { tag } from '../emails/contract.js'
import { closed, type Schema, shaped, text, time, uuid } from '../fields/index.js'
import { receivedExample, receivedInWebhook } from '../receiving/contract.js'
import { type Payload, type WebhookEvent, webhookEvents } from '../webhooks/index.js'

/**
 * A test runs the files against a signature of ours: an example that verifies wrongly would teach
 * people to switch verification off.
 */
const examples = [
  ['Node', 'verify.mjs', 'js'],
  ['Python', 'verify.py', 'python'],
  ['PHP', 'verify.php', 'php'],
  ['Go', 'verify.go', 'go'],
  ['openssl', 'verify.sh', 'sh'],
] as const

/**
 * The contract's numbers (interface.md, Delivery and retry): 5 attempts, 10 seconds each, about 5,
 * 10, 20 and 40 seconds between them.
 */
const description = `What happens to a mail, told to a server of yours: \`posthorn webhook add URL\` shows the secret of
the endpoint once. Answer 2xx within 10 seconds, also to events that you ignore; redirects are not followed.
Anything else is tried again about 5, 10, 20 and 40 seconds later, then dropped. The same event can come
more than once.

\`Svc-Signature\` is \`t=<unix_seconds>,v1=<hex>\`: the HMAC-SHA256 of \`<t>.<raw body>\` with the secret, \`whsec_\`
included, as key. While a rotated secret is still in force there are two \`v1\`: one that fits is enough. Verify the
raw bytes before you parse them, and refuse a \`t\` that is more than 300 seconds away.`

/** The tag of webhooks: how to receive them, with a tested program in each language. */
export function webhookTag(): { name: string; description: string } {
  const programs = examples.map(([language, file, fence]) => {
    const code = readFileSync(packageFile(`src/openapi/static/${file}`), 'utf8')
    return `<details>\n<summary>${language}</summary>\n\n\`\`\`${fence}\n${code}\`\`\`\n\n</details>`
  })
  return { name: 'Webhooks', description: [description, ...programs].join('\n\n') }
}

/** Under `components.schemas`. */
export const webhookSchemas: Record<string, Schema> = {
  Tag: tag.schema,
  WebhookPayload: closed(
    {
      event: text('The name of the event', { enum: webhookEvents }),
      emailId: uuid('The id of the mail; of `email.received` that under `/v1/received`'),
      to: {
        type: 'array',
        items: { type: 'string' },
        description: 'The addresses that the event is about',
      },
      cc: {
        type: 'array',
        items: { type: 'string' },
        description: 'All addresses of `cc`; absent for mails without',
      },
      bcc: {
        type: 'array',
        items: { type: 'string' },
        description: 'All addresses of `bcc`, which no recipient sees; absent for mails without',
      },
      tags: { type: 'array', items: shaped('Tag'), description: 'The tags; absent without any' },
      test: {
        type: 'boolean',
        description: 'True for mail of a key of the scope `test`; absent for all other mail',
      },
      subject: text('The subject of the mail'),
      status: text('The name of the event without `email.`'),
      timestamp: time('When it happened; the same at every attempt'),
      messageId: text('The Message-ID of the mail; absent on `email.opened` and `email.clicked`'),
      bounceReason: text('Only on `email.bounced`; `Permanent` suppresses the address', {
        enum: ['Permanent', 'Transient'],
      }),
      domainId: uuid('The id of the sending domain; absent when it is deleted'),
      domain: text('The name of the sending domain; absent when it is deleted'),
      received: receivedInWebhook,
    },
    ['cc', 'bcc', 'tags', 'test', 'messageId', 'bounceReason', 'domainId', 'domain', 'received'],
  ),
}

/**
 * When each event is sent. `email.sent` comes once a mail, at its first attempt, even if a
 * recipient is deferred.
 */
const fires: Record<WebhookEvent, string> = {
  'email.sent': 'The first attempt to deliver a mail was made; once a mail',
  'email.delivered': "The recipient's server took it",
  'email.bounced': 'It could not be delivered; what is permanent suppresses the address',
  'email.complained': 'The recipient called it spam; the address is suppressed',
  'email.failed': 'All attempts failed',
  'email.opened': 'It was opened',
  'email.clicked': 'A link in it was followed',
  'email.received': 'A mail came in, and a receiving rule leads it to webhooks',
}

/** OpenAPI 3.1's `webhooks`: requests that Posthorn makes. */
export function describeWebhooks(): Record<string, Schema> {
  return Object.fromEntries(
    webhookEvents.map((event) => [event, { post: operation(event) } satisfies Schema]),
  )
}

/**
 * OpenAPI describes a webhook as a request that the reader has to answer; `security` is empty, as
 * it carries a signature and no key.
 */
const operation = (event: WebhookEvent): Schema => ({
  tags: ['Webhooks'],
  operationId: event.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase()),
  summary: fires[event],
  security: [],
  parameters: [
    {
      name: 'Svc-Signature',
      in: 'header',
      required: true,
      schema: { type: 'string', pattern: '^t=\\d+(,v1=[0-9a-f]{64})+$' },
    },
  ],
  requestBody: {
    required: true,
    content: { 'application/json': { schema: shaped('WebhookPayload'), example: example(event) } },
  },
  responses: {
    '2XX': { description: 'The event is taken' },
    default: { description: 'The event is tried again later' },
  },
})

/**
 * Fields that an event does not have are left out and not null, as in the contract: `messageId` is
 * not on opens and clicks.
 */
function example(event: WebhookEvent): Payload | typeof receivedExample {
  if (event === 'email.received') return receivedExample
  const id = '019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11'
  const isRecipients = event === 'email.opened' || event === 'email.clicked'
  return {
    event,
    emailId: id,
    to: ['ann@example.com'],
    subject: 'Your order',
    status: event.slice('email.'.length),
    timestamp: '2026-11-21T12:00:00.000Z',
    ...(isRecipients ? {} : { messageId: `<${id}@shop.example>` }),
    ...(event === 'email.bounced' ? { bounceReason: 'Permanent' } : {}),
    domainId: '019a9c1e-0000-7000-8000-000000000001',
    domain: 'shop.example',
  }
}
