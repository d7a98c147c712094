/**
 * Configures the console's build: hashed files below `/app/assets`, one chunk per page, no remote addresses; and the
 * documentation site.
 */
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { docsSite } from './docs-site/plugin.ts';
import { pagePreloads } from './page-preloads.ts';
import { subsetFonts } from './subset-fonts.ts';

export default defineConfig({
  base: '/app/',
  plugins: [subsetFonts(), react(), tailwind(), pagePreloads(), docsSite()],
  build: {
    // Inlined files would be `data:` addresses, which the content security policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Puts modules shared by many pages into one file: many small ones compress worse, and each is a request.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'kit', test: /src\/(ui|lib)\/|lucide-react/, minShareCount: 10 },
            { name: 'filters', test: /src\/filters\/|src\/lib\/protocols/, minShareCount: 3 },
            {
              name: 'calls',
              test: /src\/pages\/logs\/(?:views\/call-columns|call-table|log-filters)/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
  },
});
