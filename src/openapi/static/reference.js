// Swagger UI has its dark colours behind a class.
const dark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', paint)
paint()

SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  // Off: it would send the document to a service of theirs.
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelExpandDepth: 2,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
})

// The address by which the browser came is one by which npm can come too.
const install = document.querySelector('.install')
if (install !== null) {
  install.querySelector('code').textContent = `npm install ${location.origin}/client/posthorn-client.tgz`
}
