/** Owns how the console is built: hashed files below `/app/assets`, a page per chunk, no remote address. */
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { pagePreloads } from './page-preloads.ts';
import { subsetFonts } from './subset-fonts.ts';

export default defineConfig({
  base: '/app/',
  plugins: [subsetFonts(), react(), tailwind(), pagePreloads()],
  build: {
    // Inlined files would be `data:` addresses, which the content security policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What many pages share, in one file: a dozen small ones pack worse, and each is a request.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'kit', test: /src\/(ui|lib)\/|lucide-react/, minShareCount: 8 }] },
      },
    },
  },
});
