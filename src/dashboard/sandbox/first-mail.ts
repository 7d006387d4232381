import type { PageRequest } from '../../http/index.js'
import type { Read } from '../../store/index.js'
import { ownUrl } from '../own-url.js'

/** A command that sends a first mail to this appliance, ready to paste but for the API key. */
export async function firstMail(read: Read, request: PageRequest): Promise<string> {
  const body = {
    from: `Posthorn <hello@${(await sendingDomain(read)) ?? 'your-domain.example'}>`,
    to: 'anyone@example.com',
    subject: 'My first mail',
    html: '<p>It works.</p>',
  }
  return [
    `curl ${ownUrl(request)}/v1/emails/send \\`,
    `  -H 'Authorization: Bearer YOUR_API_KEY' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body, null, 2).replaceAll('\n', '\n      ')}'`,
  ].join('\n')
}

async function sendingDomain(read: Read): Promise<string | undefined> {
  const row = await read
    .selectFrom('domains')
    .select('name')
    .where('status', '=', 'verified')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.name
}
