/** Starts the console in the browser. */
import './styles/console.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { queryClient } from './lib/queries.ts';
import { applyTheme } from './lib/theme.ts';
import { Router } from './router.tsx';
import { CallDeps } from './shell/app.tsx';

applyTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root element');
createRoot(root).render(
  <QueryClientProvider client={queryClient}>
    <Router>
      <CallDeps />
    </Router>
  </QueryClientProvider>,
);
