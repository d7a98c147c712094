/** Redirects signed-in users from `/app/sign-in` to the home page. */
import { useEffect } from 'react';
import { useNavigate } from '../../route/route.ts';

export default function SignedInPage() {
  const navigate = useNavigate();
  useEffect(() => navigate({ to: '/app', replace: true }), [navigate]);
  return null;
}
