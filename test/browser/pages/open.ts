import type { PlacePages } from '../every-page.js'

const html = `<style>@media (prefers-color-scheme: dark) { p { color: #fff } }</style>
  <p style="display: flex; border-radius: 4px">Hello <a href="http://a.example.com/${'long'.repeat(60)}">www.other.example</a>
  <img src="https://pictures.example.org/a.webp"></p>`

/** What stands open without a session: the sandbox's mails and the API's reference. */
export const place: PlacePages = {
  fill: async (world) => {
    const { id } = (
      await world.call('POST', '/v1/emails/send', {
        body: {
          from: 'Shop <a@sender.test>',
          to: 'ann@example.org',
          html,
          subject: `${'A long subject '.repeat(20)}<script>alert(1)</script>`,
          attachments: [{ filename: `${'long'.repeat(30)}.txt`, content: 'eA==' }],
        },
      })
    ).json
    await world.until(id, ({ status }) => status === 'delivered')
    const mail = await fetch(`${world.url}/sandbox/wait.json?subject=A+long+subject`)
    world.ids.sandboxMail = String(((await mail.json()) as { id: number }).id)
  },
  pages: ({ ids }) => [
    // The HTML is looked at in sandbox.test.ts: what a frame stops there is a complaint here.
    ...['text', 'headers', 'source', 'attachments', 'checks', 'clients', 'links'].map((view) => ({
      path: `/sandbox/${ids.sandboxMail}?view=${view}`,
      name: `sandbox-${view}`,
    })),
    { path: '/sandbox?q=nothing-at-all', name: 'sandbox-nothing' },
    { path: '/sandbox/1', status: 404, name: 'sandbox-gone' },
    { path: '/reference' },
    { path: '/reference/sendEmail' },
    { path: '/reference/createAutomation', as: 'owner' },
    { path: '/reference/emailBounced' },
    { path: '/reference/nothing', status: 404 },
  ],
}
