import { accountFace, type Brand, brandOf, languageOf } from '../accounts/index.js'
import { escapeHtml } from '../mime/index.js'
import type { Read } from '../store/index.js'
import { type FormSettings, usualSettings } from './form.js'
import { wordsIn } from './words/index.js'

interface Asking {
  settings: FormSettings
  brand: Brand
  accountName: string
  url: string
  from: string
  isReminder: boolean
}

/**
 * The mail that asks for a confirmation. It contains nothing that the visitor typed: whoever types somebody else's
 * address must not choose what that person reads.
 */
export function confirmationMail({ settings, brand, accountName, url, from, isReminder }: Asking) {
  const { mail, language } = wordsIn[settings.language]
  const { background, text, button, buttonText } = brand.colours
  const lines = [mail.line(accountName), mail.ignore] as const
  const address = brand.postalAddress.replace(/\s*[\r\n]+\s*/g, ', ')
  const foot = address === '' ? '' : `<p style="font-size:13px">${escapeHtml(address)}</p>`
  const link = `<a href="${escapeHtml(url)}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:${button};color:${buttonText};text-decoration:none">${escapeHtml(mail.button)}</a>`
  return {
    from,
    subject: isReminder ? mail.reminder(accountName) : mail.subject(accountName),
    html: `<!doctype html><html lang="${language}"><body style="margin:0;padding:24px;background:${background};color:${text};font:16px/1.5 Arial,Helvetica,sans-serif"><p>${escapeHtml(lines[0])}</p><p>${link}</p><p>${escapeHtml(lines[1])}</p>${foot}</body></html>`,
    text: `${lines[0]}\n\n${mail.button}: ${url}\n\n${lines[1]}\n${address === '' ? '' : `\n${address}\n`}`,
  }
}

/** The HTML of such a mail in the account's own language, to look at: its link leads nowhere. */
export async function sampleConfirmation(read: Read, accountId: string): Promise<string> {
  const face = await accountFace(read, accountId)
  const language = languageOf(face?.language ?? null)
  const { html } = confirmationMail({
    settings: { ...usualSettings, lists: [], consent: '', language },
    brand: await brandOf(read, accountId),
    accountName: face?.name ?? '',
    url: '#',
    from: '',
    isReminder: false,
  })
  return html
}
