// WebAuthn works only over TLS and on `localhost`, and a passkey belongs to a name, never to a bare
// IP address: elsewhere these forms stay hidden.
import { startAuthentication, startRegistration } from '@simplewebauthn/browser'

const isAddress = /^[\d.]+$|^\[/.test(location.hostname)

/**
 * Asks the server what to sign, has the browser ask the person, and sends the form with the answer.
 */
async function answer(form: HTMLFormElement): Promise<void> {
  const fault = form.querySelector<HTMLElement>('[data-passkey-fault]')
  const field = form.querySelector<HTMLInputElement>('input[data-passkey-answer]')
  if (field === null) return
  try {
    const response = await fetch(form.dataset.options ?? '', { method: 'POST' })
    // Before a key is added, the server redirects to a page where people prove once more who they are.
    if (response.redirected) return location.assign(response.url)
    const optionsJSON = await response.json()
    const made =
      form.dataset.passkey === 'create'
        ? await startRegistration({ optionsJSON })
        : await startAuthentication({ optionsJSON })
    field.value = JSON.stringify(made)
    form.submit()
  } catch {
    if (fault === null) return
    fault.hidden = false
    fault.textContent = 'It did not work, or you cancelled it. You can try again.'
  }
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) {
  if (!isSecureContext || isAddress || !('PublicKeyCredential' in window)) continue
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void answer(form)
  })
}
