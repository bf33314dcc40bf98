-- The role that tenant transactions take on, so that row-level security binds them even where the login role owns the
-- tables or is a superuser (the embedded database's is). Roles belong to the whole server, so another database may have
-- made it already, or be making it right now.
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'souvenir_app') THEN
    BEGIN
      CREATE ROLE souvenir_app NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;
    END;
  END IF;
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    BEGIN
      GRANT souvenir_app TO CURRENT_USER;
    EXCEPTION WHEN insufficient_privilege THEN
      -- Granted beforehand by an administrator, or the next line says what is missing.
      NULL;
    END;
  END IF;
  PERFORM set_config('role', 'souvenir_app', true);
  PERFORM set_config('role', 'none', true);
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO souvenir_app', current_schema());
END $$;
